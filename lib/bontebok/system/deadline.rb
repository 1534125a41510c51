# frozen_string_literal: true

require_relative "clock"

module Bontebok
  # The time by which a process must have ended that nobody else may be there to end. For Worker, SingleProcess and
  # ExitLimit; what a parent grants its children it counts itself (Child).
  class Deadline
    def initialize(seconds)
      @time = Clock.now + seconds
    end

    # Seconds, never less than none.
    def left
      [@time - Clock.now, 0].max
    end

    # Seconds for which a process may wait at once.
    def step
      [left, Clock::STEP].min
    end

    # Gives the block the seconds for which it may wait, until it returns something true, which is returned; nil: the
    # time is over.
    def wait
      until left.zero?
        seconds = step
        result = Clock.wait(seconds) { yield seconds } and return result
      end
    end
  end
end
