# frozen_string_literal: true

module Bontebok
  # Seconds for the limits that processes have: to become ready, to end. The time for which this process was stopped
  # (SIGSTOP, a frozen container) does not count: the other processes probably were stopped as well. After a stop a wait
  # ends late. The processor time of such a wait counts: a thread that keeps Ruby's lock delays a wait as well.
  module Clock
    # While there is a limit no wait is longer: of a stop so much counts at most.
    STEP = 0.25

    # Seconds that have not counted so far.
    singleton_class.attr_reader :lost
    @lost = 0

    class << self
      def now
        monotonic - lost
      end

      # Returns what the block returns. It waits for so many seconds at most; nil: for any time.
      def wait(seconds)
        began = monotonic
        computed = processor
        result = yield
        late = monotonic - began - seconds.to_f - (processor - computed)
        @lost += late if seconds && late.positive?
        result
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
