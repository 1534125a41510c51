# frozen_string_literal: true

require_relative "../aim"
require_relative "../machine"

module Bench
  module Faults
    # Prints a Markdown table for each fault, and at the end which aims were met.
    class Report
      OURS = "bontebok"
      # Percent. Smaller differences come by chance.
      BEHIND = 1

      def initialize(servers, seconds:, strike:)
        @servers = servers
        @strike = strike
        @shares = Hash.new { |hash, key| hash[key] = {} }
        puts "percent of requests in time, second by second for #{seconds} s, the fault at second #{strike}"
        puts Bench.machine
      end

      def begin_fault(fault)
        puts "\n**#{fault.name}**: #{fault.title}\n\n"
        puts "| | second by second | worst | silent | total: new, kept | not in time | settings |"
        puts "|---|---|---|---|---|---|---|"
      end

      # shares: nil if there is no result.
      def add(fault, server, shares, limits, notes)
        @shares[fault.name][server] = shares
        name = server == OURS ? "**#{server}**" : server
        puts "| #{[name, *(shares ? figures(shares) : ['-'] * 5), (limits + notes).join('; ')].join(' | ')} |"
        $stdout.flush
      end

      def judge
        puts
        @shares.each do |fault, shares|
          next unless (ours = shares[OURS])

          Bench.aim("#{fault}: no second without a response", ours.silent.zero?)
          ahead = shares.compact.select { |_name, other| other.total > ours.total + BEHIND }.keys
          Bench.aim("#{fault}: never behind a peer#{" (#{ahead.join(', ')})" if ahead.any?}", ahead.empty?)
        end
      end

      private

      def figures(shares)
        seconds = shares.by_second.map { |percent| percent ? percent.floor.to_s : "." }
        [seconds.insert(@strike, "/").join(" "), shares.worst&.floor || ".", shares.silent,
         "#{percent(shares.total)}: #{percent(shares.total(:new))}, #{percent(shares.total(:kept))}", shares.failures]
      end

      def percent(share) = share ? share.round.to_s : "."
    end
  end
end
