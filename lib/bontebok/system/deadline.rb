# frozen_string_literal: true

require_relative "clock"

module Bontebok
  # The time at which a process ends itself, because no other process may be left to end it. For Worker, SingleProcess
  # and ExitLimit. Not for a parent that waits for a child: Child counts that time.
  class Deadline
    def initialize(seconds)
      @time = Clock.now + seconds
    end

    # The seconds that are left, at least 0.
    def left
      [@time - Clock.now, 0].max
    end

    # The seconds for which a process may wait at once.
    def step
      [left, Clock::STEP].min
    end

    # Calls the block again and again with the seconds for which it may wait. Returns the block's first true result;
    # nil: the time is over.
    def wait
      until left.zero?
        seconds = step
        result = Clock.wait(seconds) { yield seconds } and return result
      end
    end
  end
end
