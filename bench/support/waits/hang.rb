# frozen_string_literal: true

require_relative "client"
require_relative "question"

module Bench
  module Waits
    # Without a limit for requests, workers that hang serve nobody until an operator kills them.
    class Hang < Question
      ROUNDS = 3
      TIMEOUT = 1
      # Seconds between the requests and the next one.
      LEAD = 0.3
      # How long a client waits, in seconds.
      PATIENCE = 6
      LIMIT = 2
      # { path => what its requests do }
      PATHS = { "/hang" => "sleep", "/spin" => "compute" }.freeze

      # hanging: the Client::Answer of each request. following: the one of the next request.
      Result = Struct.new(:hanging, :following) do
        def refused = hanging.count { |answer| answer.status == 504 }
        def last = hanging.map(&:seconds).max
        def next = following.seconds + LEAD
      end

      def title
        "each of #{WORKERS} workers has a request that never ends, and --request-timeout is #{TIMEOUT} s. Seconds " \
          "until the last of these requests and a next one are answered; the longest of #{ROUNDS} rounds"
      end

      def columns = ["requests", "status 504", "the last one", "the next one", "its status"]
      # The others have no such setting.
      def servers = [Psgi::OURS]
      def variants = PATHS.keys
      def settings(_path) = { workers: WORKERS, more: ["--request-timeout=#{TIMEOUT}"] }

      private

      # A Result for each round.
      def measure(fleet, path) = Array.new(ROUNDS) { round(fleet.address, path) }

      def round(address, path)
        clients = Array.new(WORKERS + 1) { Client.new(address) }
        *hanging, following = clients
        asking = hanging.map { |client| client.begin_to_ask(path, PATIENCE) }
        sleep LEAD
        answer = following.ask("/", PATIENCE)
        Result.new(asking.map(&:value), answer)
      ensure
        clients.each(&:close)
      end

      def values(results, path)
        [PATHS.fetch(path), "#{results.sum(&:refused)} of #{ROUNDS * WORKERS}",
         *%i[last next].map { |which| format("%.2f", results.map(&which).max) },
         results.map { |result| result.following.status || "none" }.uniq.join(", ")]
      end

      def judge(results)
        rounds = results.flatten
        Bench.aim("each request that hangs gets status 504", rounds.all? { |round| round.refused == WORKERS })
        judge_seconds("the next request is answered", rounds.map(&:next).max, LIMIT)
      end
    end
  end
end
