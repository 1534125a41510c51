# frozen_string_literal: true

require_relative "../load"
require_relative "client"
require_relative "question"

module Bench
  module Waits
    # A worker finishes its request before it is replaced. Others wait for it if it is the only worker, or if they have
    # sent a request on one of its connections.
    class Slow < Question
      SECONDS = 6
      # Seconds of the load. It begins LEAD seconds before the slow request, and ends after it.
      LOAD = 7.5
      LEAD = 0.5
      # Requests per second of each load.
      RATE = 250
      CLIENTS = 32
      LIMIT = 0.2
      MODES = { "new" => ["--close"], "kept" => [] }.freeze

      # slow: a Client::Answer. loads: of the others, a Load::Result for each mode.
      Result = Struct.new(:slow, :loads) do
        def longest = loads.map { |load| load.latency_us.fetch("max").to_f / 1e6 }
      end

      def title
        "a request takes #{SECONDS} s, and the master gets HUP when it has begun. The longest wait of " \
          "#{RATE} requests per second on new and of as many on kept-alive connections"
      end

      def columns = ["workers", "slow request", *MODES.keys.map { |mode| "#{mode}: longest ms" }, "not ok"]
      def servers = Psgi::Fleet::PREFORKS
      def variants = [1, WORKERS]
      # Starlet closes each connection, as it does by default.
      def settings(workers) = { workers: workers, connection_requests: 1 }

      private

      def measure(fleet, _workers)
        loads = MODES.values.map { |options| Thread.new { load(fleet, options) } }
        sleep LEAD
        client = Client.new(fleet.address)
        slow = client.begin_to_ask("/sleep/#{SECONDS}", SECONDS + 2)
        raise Psgi::Fleet::Failed, "the slow request does not begin" unless fleet.note?("begun")

        Process.kill(:HUP, fleet.master)
        Result.new(slow.value, loads.map(&:value))
      ensure
        client&.close
      end

      def load(fleet, options)
        Load.run(fleet.address, "-c", CLIENTS, "--rate", RATE, "-d", LOAD, *options)
      end

      def values(result, workers)
        slow = result.slow.status ? format("%d after %.1f s", *result.slow) : "no response"
        [workers, slow, *result.longest.map { |seconds| milliseconds(seconds) }, result.loads.sum(&:failed)]
      end

      def judge(results)
        judge_seconds("the longest wait", results.flat_map(&:longest).max, LIMIT)
        Bench.aim("each request is answered",
                  results.all? { |result| result.slow.status == 200 && result.loads.sum(&:failed).zero? })
      end
    end
  end
end
