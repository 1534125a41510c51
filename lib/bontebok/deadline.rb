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
  end
end
