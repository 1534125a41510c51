# frozen_string_literal: true

require_relative "clock"

module Bontebok
  # The time at which this process ends itself. The process does not rely on its parent, because the parent may have
  # died. Used by Worker, SingleProcess and ExitLimit. Not for a parent that waits for a child, because a
  # ForkedProcess has a deadline of its own.
  class Deadline
    # The time by Clock.now.
    attr_reader :time

    def initialize(seconds)
      @time = Clock.now + seconds
    end

    def over? = left.zero?

    # The seconds that are left, at least 0.
    def left = [@time - Clock.now, 0].max

    # The seconds that the next wait may take.
    def step = [left, Clock::STEP].min

    # Calls the block repeatedly with the seconds that the block may wait. Returns the block's first true result, or nil
    # if the deadline has passed.
    def wait
      until left.zero?
        seconds = step
        result = Clock.wait(seconds) { yield seconds } and return result
      end
    end
  end
end
