# frozen_string_literal: true

module Support
  # The end of a time limit, on the monotonic clock. Helpers pass one Deadline on, so that several waits together take
  # no longer than the limit.
  #
  # BONTEBOK_TEST_TIME_FACTOR multiplies every limit, because tests under valgrind and on emulated machines are slow.
  class Deadline
    FACTOR = Float(ENV.fetch("BONTEBOK_TEST_TIME_FACTOR", "1"))
    DEFAULT_SECONDS = 60

    # limit: a Deadline, or seconds from now. Returns a Deadline.
    def self.for(limit)
      limit.is_a?(Deadline) ? limit : new(limit)
    end

    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def self.seconds
      started = now
      yield
      now - started
    end

    def initialize(seconds = DEFAULT_SECONDS)
      @at = Deadline.now + (seconds * FACTOR)
    end

    # Seconds that are left. Never negative, because IO.select rejects negative numbers.
    def left
      [@at - Deadline.now, 0].max
    end

    def passed?
      left.zero?
    end
  end
end
