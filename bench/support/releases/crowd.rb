# frozen_string_literal: true

require_relative "client"

module Bench
  module Releases
    # Clients that send requests all the time, each in a thread. Half of them keep their connections. Answers without
    # status 200 are lost.
    class Crowd
      PAUSE = 0.03 # seconds between two requests of a client

      def initialize(address, count)
        @requests = 0
        @lost = []
        @lock = Mutex.new
        @threads = Array.new(count) { |number| Thread.new { work(Client.new(address, kept: number.odd?)) } }
      end

      attr_reader :requests

      # Returns the Client::Answers that are lost since the last call.
      def lost = @lock.synchronize { @lost.slice!(0..) }

      def finish
        @done = true
        @threads.each(&:join)
      end

      private

      def work(client)
        until @done
          answer = client.ask
          @lock.synchronize do
            @requests += 1
            @lost << answer unless answer.result == :ok
          end
          sleep(PAUSE)
        end
      ensure
        client.close
      end
    end
  end
end
