# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  class Departure
    # Waits until a server that has got copies of the listeners (OtherServer) is ready, or has ended. Meanwhile the
    # workers of this server continue to serve.
    class Newcomers
      # Seconds between two looks.
      INTERVAL = 0.02

      # The time of the next call of #over?.
      attr_reader :deadline

      # starting: a callable that returns whether such a server starts. patience: seconds that it gets.
      def initialize(starting, patience:, log:)
        @starting = starting
        @deadline = Clock.now
        @patient_until = Clock.now + patience
        @log = log
        log.info("another server is starting: this server serves until the other one is ready")
      end

      # Does what is to do at #deadline. Returns true if the server can stop.
      def over?
        return true if !@starting.call || late?

        @deadline = Clock.now + INTERVAL
        false
      end

      private

      def late?
        return false if Clock.now < @patient_until

        @log.warn("the other server is not ready in time: this server stops")
        true
      end
    end
  end
end
