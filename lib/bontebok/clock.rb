# frozen_string_literal: true

module Bontebok
  # Seconds for the limits that processes have: to become ready, to end.
  module Clock
    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
