# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  class Children
    # Computes when the child of a number may be started: some time after the number's last failure, and after the last
    # start of any number. For Children. Knows numbers, no processes.
    class Pauses
      # The longest pause after a failure, in seconds.
      LONGEST = 30
      # After this many failures in a row the pause grows no more.
      DOUBLINGS = 16
      # Seconds between two starts that the system rejects: without a pause the attempts would take all of a processor.
      LEAST = 0.1

      # pause: seconds after a first failure. interval: seconds between any two starts.
      def initialize(pause, interval)
        @pause = pause
        @interval = interval
        @failures = Hash.new(0)
        @brief = {}
        @until = Hash.new(0)
        @next_start = 0
        @refused = false
      end

      # The earliest time at which the number may be started.
      def over(number)
        [@until[number], @next_start].max
      end

      def started
        @refused = false
        @next_start = Clock.now + @interval
      end

      # The system has no room for another process. This concerns all numbers, and it is no failure of any number.
      def refused
        @refused = true
        @next_start = Clock.now + [@pause, LEAST].max
      end

      def refused?
        @refused
      end

      # True if the number's last start has failed.
      def failing?(number)
        @failures[number].positive?
      end

      # A start has failed: the pause doubles with each failure in a row.
      def failed(number)
        @until[number] = Clock.now + [@pause * (2**[@failures[number], DOUBLINGS].min), LONGEST].min
        @failures[number] += 1
      end

      def ready(number)
        @failures.delete(number) unless @brief[number]
      end

      # The number's child has ended by itself, `seconds` after it was ready.
      def ended(number, seconds)
        brief = seconds < @pause
        brief && @brief[number] ? failed(number) : @failures.delete(number)
        @brief[number] = brief
      end

      # The number's child is to leave, `seconds` after it was ready.
      def leaves(number, seconds)
        @brief.delete(number) if seconds >= @pause
      end

      # Ends the current pauses. Failures still count for the length of the next pause.
      def cut_short
        @until.clear
      end

      # The number is not needed any more.
      def forget(number)
        [@failures, @brief, @until].each { |by_number| by_number.delete(number) }
      end
    end
  end
end
