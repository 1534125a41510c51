# frozen_string_literal: true

module Bontebok
  # The clock, in seconds, for the limits of processes: the time to become ready, the time to end. The clock does not
  # count the time for which this process was frozen (SIGSTOP, a frozen container), because the other processes were
  # probably frozen as well. Not for requests, because the core measures the time of requests.
  #
  # If a wait ends late, the process was probably frozen, and the delay is not counted. But a thread that computes with
  # Ruby's lock also delays a wait, so the CPU time that the process used during the wait is counted. If a C extension
  # blocks and keeps Ruby's lock, this looks like a freeze, and the limits of its process get longer.
  module Clock
    # The longest wait, in seconds, of a caller with a limit. At most this much of a freeze is counted.
    STEP = 0.25

    # The sum of the seconds that were not counted.
    singleton_class.attr_reader :lost
    @lost = 0

    class << self
      def now = monotonic - lost

      # Runs the block, which waits at most `seconds`, and returns the block's result. seconds nil: the block has no
      # limit, and a freeze is not noticed. Two waits must not overlap, in one thread or in two threads.
      def wait(seconds)
        began = monotonic
        computed = processor
        begin
          yield
        ensure
          late = monotonic - began - seconds.to_f - (processor - computed)
          @lost += late if seconds && late.positive?
        end
      end

      private

      def monotonic = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      def processor = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    end
  end
end
