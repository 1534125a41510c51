# frozen_string_literal: true

require_relative "../aim"
require_relative "../median"

module Bench
  module Deploys
    # The table of bench/deploy, and the aims.
    class Report
      COLUMNS = ["deploy", "behind", "connections", "requests", "lost", "deploys", "failed",
                 "one takes", "slowest", "without deploys", "p99.9", "without deploys"].freeze
      WORDS = 3 # columns with words; the others have numbers
      # How much longer requests may take during deploys.
      COST = 1.5

      def initialize
        @rows = []
      end

      def head
        puts "| #{COLUMNS.join(' | ')} |",
             "|#{COLUMNS.each_index.map { |index| index < WORDS ? '---|' : '---:|' }.join}"
      end

      # Prints the row at once, because the whole measurement can take hours.
      def add(row)
        @rows << row
        times = %w[max p999].flat_map { |name| [row.result, row.quiet].map { |one| milliseconds(one, name) } }
        puts "| #{[row.kind.title, row.site&.name, row.mode, row.result.requests, lost(row.result), row.times.size,
                   row.failed, one_takes(row), *times].join(' | ')} |"
        $stdout.flush
      end

      def aims
        ours = @rows.select { |row| row.kind.ours? }
        puts ""
        return if ours.empty?

        Bench.aim("bontebok loses no request", ours.all? { |row| (row.result.failed + row.quiet.failed).zero? })
        Bench.aim("no deploy of bontebok fails", ours.all? { |row| row.failed.zero? })
        { "max" => "the slowest request", "p999" => "p99.9" }.each do |name, words|
          Bench.aim("bontebok: #{words} takes at most #{COST} times as long as without deploys",
                    ours.all? { |row| row.result.latency_us[name] <= COST * row.quiet.latency_us[name] })
        end
      end

      private

      def lost(result)
        lost = result.errors.select { |_, count| count.positive? }.map { |kind, count| "#{count} #{kind}" }
        lost.empty? ? 0 : lost.join(", ")
      end

      # The median.
      def one_takes(row) = Bench.median(row.times)&.then { |seconds| (seconds * 1000).round }

      def milliseconds(result, name) = format("%.1f", result.latency_us.fetch(name) / 1000.0)
    end
  end
end
