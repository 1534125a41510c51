# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  class Departure
    # Waits until a newer server of start_server serves. start_server tells the old server to stop soon after it has
    # started the newer one, which may still load its application. Meanwhile the workers of the old server continue to
    # serve. If the newer server ends, start_server starts another one, which is awaited as well.
    class Takeover
      # Seconds between two looks.
      INTERVAL = 0.05

      # The time of the next call of #over?.
      attr_reader :deadline

      # start_server: the StartServer. patience: seconds that each newer server gets to load its application.
      def initialize(start_server, patience:, log:)
        @start_server = start_server
        @patience = patience
        @log = log
        @deadline = Clock.now
        @signaled_for = start_server.newer.last
      end

      # Does what is to do at #deadline. Returns true if the server can stop.
      def over?
        look unless @over || Clock.now < @deadline
        @over
      end

      # True if a newer server serves, and accepts the connections in the queues.
      attr_reader :taken_over

      # Called with a further signal to stop. start_server sends it also when it has started yet another server. That
      # server is awaited. Otherwise the wait ends.
      def insist
        newest = @start_server.newer.last
        @over ||= newest == @signaled_for
        @signaled_for = newest
      end

      private

      # Without a newer server in two looks, start_server stops.
      def look
        newer = @start_server.newer
        @taken_over = newer.include?(@start_server.owner)
        return @over = true if @taken_over || (newer.empty? && @newest.nil?) || late?(newer.last)

        @deadline = Clock.now + INTERVAL
      end

      def late?(newest)
        await(newest) unless newest == @newest
        return false if newest.nil? || Clock.now < @patient_until

        @log.warn("the server #{newest} is not ready after #{@patience} s: this server stops")
        true
      end

      def await(newest)
        @newest = newest
        @patient_until = Clock.now + @patience
        @log.info("the server #{newest} is starting: this server serves until the other one is ready") if newest
      end
    end
  end
end
