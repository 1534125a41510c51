# frozen_string_literal: true

module Bontebok
  # Seconds for the limits that processes have: to become ready, to end. The time for which this process was stopped
  # (SIGSTOP, a frozen container) does not count: the other processes probably were stopped as well. After a stop a wait
  # ends late. The processor time of such a wait counts: a thread that computes with Ruby's lock delays a wait as well.
  # A C extension that blocks with the lock looks like a stop: the limits of its process take longer.
  module Clock
    # No wait is longer while its caller has a limit: no more than that counts of a stop.
    STEP = 0.25

    # Seconds that have not counted so far.
    singleton_class.attr_reader :lost
    @lost = 0

    class << self
      def now
        monotonic - lost
      end

      # Returns what the block returns. It waits for so many seconds at most; nil: for any time, and no stop is noticed.
      # One thread at a time, and not within another wait.
      def wait(seconds)
        began = monotonic
        computed = processor
        yield
      ensure
        late = monotonic - began - seconds.to_f - (processor - computed)
        @lost += late if seconds && late.positive?
      end

      private

      def monotonic
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      def processor
        Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      end
    end
  end
end
