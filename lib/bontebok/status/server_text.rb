# frozen_string_literal: true

require_relative "units"

module Bontebok
  module Status
    # The lines of the screen about the server as a whole.
    class ServerText
      # The most ends of workers that the screen shows.
      ENDS = 3
      # The texts of deploys (DeployReport).
      SUCCEEDED = /\A(?:succeeded|generation \d+ serves)\b/i
      GENERATION = /\Ageneration \d+ /

      def initialize(snapshot, rates, zone)
        @snapshot = snapshot
        @server = snapshot.server
        @rates = rates
        @zone = zone
      end

      # "app: serving generation 2 since 03:02 (deploy), 2 workers of 2 threads, up 3 days"
      def head
        parts = ["#{state}#{since}", size, *("up #{Units.age(up)}" if up)]
        ["#{@server[:tag] || 'bontebok'}: #{parts.join(', ')}", *last_deploy].join("; ")
      end

      # "waiting 4, oldest 11.5 s | busy 2 of 4 | ...". Without an earlier snapshot, the numbers are since the start.
      def numbers
        [waiting, "busy #{@snapshot.busy} of #{@snapshot.threads}", *responses, rejected, *accept_queue].join(" | ")
      end

      # The software, the addresses, the last ends of workers.
      def details
        parts = ["bontebok #{@server[:version]}, ruby #{@server[:ruby] || '?'}, pid #{@server[:pid] || '?'}",
                 *("listening on #{@server[:listeners].join(', ')}" unless @server[:listeners].empty?),
                 *("generation #{@server[:former]} is kept for a rollback" if @server[:former])]
        [*(parts.join("; ") if @server[:version]), *ends]
      end

      private

      def state
        generation = "generation #{@server[:generation]}" if @server[:generation]
        # The trouble says that the supervisor does not answer.
        return generation ? "#{generation} serves" : "the supervisor does not answer" unless @server[:state]

        [@server[:state], *generation].join(@server[:state] == "serving" ? " " : ", ")
      end

      def since
        return unless @server[:serving_since]

        " since #{clock(@server[:serving_since])}#{" (#{@server[:by]})" if @server[:by]}"
      end

      def size
        threads = Units.several(@server[:threads], "thread")
        return "one process of #{threads}" if @server[:mode] == "single"
        return Units.several(@snapshot.workers.size, "worker") unless @server[:workers]

        "#{Units.several(@server[:workers], 'worker')} of #{threads}"
      end

      def up
        started = @server[:started]
        [@snapshot.time - started, 0.0].max if started && @snapshot.time
      end

      # The last deploy, unless it has succeeded: then the head says since when its generation serves.
      def last_deploy
        last = @snapshot.deploys.last
        return if last.nil? || last[:text].match?(SUCCEEDED)

        "last deploy #{clock(last[:time])} #{last[:text].sub(GENERATION, '').sub(/\Afailed\b/i, &:upcase)}"
      end

      def waiting
        oldest = @snapshot.waiting[:oldest]
        "waiting #{@snapshot.waiting[:requests] || '-'}#{", oldest #{Units.duration(oldest)}" if oldest}"
      end

      def responses
        times = @rates.service_time || @snapshot.service_time
        times = [0.5, 0.99].map { |share| "p#{(share * 100).to_i} #{Units.duration(times.quantile(share))}" }.join(", ")
        if @rates.known?
          ["#{Units.rate(@rates.responses)} req/s#{files}, #{times}", "5xx #{Units.rate(@rates.responses('5xx'))}/s"]
        else
          ["#{Units.several(@snapshot.responses, 'response')} since the start#{files}, #{times}",
           "5xx #{@snapshot.totals[:responses]['5xx']}"]
        end
      end

      # The part of the responses that are files of public. The times are without them.
      def files
        count = @rates.known? ? @rates.growth(:files) : @snapshot.totals[:files]
        return if count.zero?

        @rates.known? ? " (#{Units.rate(count / @rates.seconds)} files/s)" : " (#{Units.several(count, 'file')})"
      end

      def rejected
        reasons = @snapshot.totals[:rejected].select { |_, count| count.positive? }.sort_by { |_, count| -count }
        list = reasons.map { |reason, count| "#{reason} #{count}" }.join(", ")
        "rejected #{@snapshot.rejected}#{": #{list}" unless list.empty?}"
      end

      # The fullest queue.
      def accept_queue
        queues = @snapshot.accept_queues
        queue = queues.max_by { |one| one[:length].fdiv([one[:limit], 1].max) } or return
        "accept queue #{queue[:length]} of #{queue[:limit]}#{" (#{queue[:address]})" if queues.size > 1}"
      end

      def ends
        @snapshot.ends.last(ENDS).map { |one| "ended #{clock(one[:time])}: #{one[:text]}" }
      end

      def clock(time) = Units.clock(time, @snapshot.time, @zone)
    end
  end
end
