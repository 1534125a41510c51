# frozen_string_literal: true

module Bontebok
  # The clock, in seconds, for the limits of processes: the time to become ready, the time to end. It does not count the
  # time for which this process was stopped (SIGSTOP, a frozen container), because the other processes were probably
  # stopped as well. Not for requests: the core measures their time.
  #
  # A wait that ends late shows that the process was stopped. A thread that computes with Ruby's lock delays a wait,
  # too. So the processor time that a wait takes is not lost. A C extension that blocks with Ruby's lock looks like a
  # stop: the limits of its process get longer.
  module Clock
    # Seconds that a caller with a limit may wait at once. So at most this much of a stop counts.
    STEP = 0.25

    # The seconds that were not counted so far.
    singleton_class.attr_reader :lost
    @lost = 0

    class << self
      def now
        monotonic - lost
      end

      # Returns the block's result. The block waits for `seconds` at most; nil: for any time, and a stop is not noticed.
      # Only one thread at a time may call this method, and not within another wait.
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

      def monotonic
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      def processor
        Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      end
    end
  end
end
