# frozen_string_literal: true

module Support
  # A moment on the monotonic clock by which something must have happened. Helpers pass it on, so that a test that waits
  # for three things does not wait three times as long.
  #
  # BONTEBOK_TEST_PATIENCE multiplies every wait: valgrind and emulated machines need it.
  class Deadline
    PATIENCE = Float(ENV.fetch("BONTEBOK_TEST_PATIENCE", "1"))
    DEFAULT_SECONDS = 10

    # limit: a Deadline, which is returned, or a number of seconds from now.
    def self.for(limit)
      limit.is_a?(Deadline) ? limit : new(limit)
    end

    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # Returns the seconds that the block takes.
    def self.seconds
      started = now
      yield
      now - started
    end

    def initialize(seconds = DEFAULT_SECONDS)
      @at = Deadline.now + (seconds * PATIENCE)
    end

    # Seconds that are left, never negative: IO.select takes them.
    def left
      [@at - Deadline.now, 0].max
    end

    def passed?
      left.zero?
    end
  end
end
