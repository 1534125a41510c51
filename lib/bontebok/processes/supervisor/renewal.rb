# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  class Supervisor
    # The workers that are to be replaced. The service manager is told until they have gone.
    class Renewal
      # Seconds between two looks at the workers.
      LOOK = 0.25

      # The block returns the pids of the workers that serve.
      def initialize(&workers)
        @workers = workers
      end

      # Called when all workers are to be replaced, within these seconds.
      def begin(seconds)
        @pids = @workers.call
        @until = Clock.now + seconds
      end

      def under_way? = !@pids.nil?

      def tick
        @pids = nil unless @pids&.intersect?(@workers.call) && Clock.now < @until
      end

      # The time of the next #tick; nil: it need not be called.
      def deadline
        Clock.now + LOOK if under_way?
      end
    end
  end
end
