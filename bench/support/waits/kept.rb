# frozen_string_literal: true

require_relative "client"
require_relative "question"

module Bench
  module Waits
    # A server with blocking reads serves nobody else while it waits for the next request on a connection.
    class Kept < Question
      CLIENTS = 8
      REQUESTS = 3
      # Seconds after each response in which a client does nothing.
      IDLE = 0.3
      PATIENCE = 15
      LIMIT = 0.1

      def title
        "#{CLIENTS} clients keep their connections to one worker. Each sends #{REQUESTS} requests, and is idle for " \
          "#{IDLE} s after each"
      end

      def columns = ["answered", "longest ms"]
      def settings(_variant) = { workers: 1, connection_requests: 100 }

      private

      # The Client::Answers of all clients.
      def measure(fleet, _variant)
        Array.new(CLIENTS) { Thread.new { ask_in_turn(fleet.address) } }.flat_map(&:value)
      end

      def ask_in_turn(address)
        client = Client.new(address)
        Array.new(REQUESTS) { client.ask("/", PATIENCE).tap { sleep IDLE } }
      ensure
        client.close
      end

      def values(answers, _variant)
        ["#{answers.count(&:status)} of #{CLIENTS * REQUESTS}", milliseconds(answers.map(&:seconds).max)]
      end

      def judge(results)
        answers = results.flatten
        judge_seconds("no client waits for another", answers.map(&:seconds).max, LIMIT)
        Bench.aim("each request is answered", answers.all?(&:status))
      end
    end
  end
end
