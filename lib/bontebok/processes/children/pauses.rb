# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  class Children
    # When a number may be started, for Children: not right after its last failure, and not right after another start.
    # Knows numbers, no processes.
    class Pauses
      LONGEST = 30
      # More failures in a row do not make a pause longer.
      DOUBLINGS = 16
      # Between two attempts that are refused: without a pause they would take all of a processor.
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

      # The time from which on it may be started.
      def over(number)
        [@until[number], @next_start].max
      end

      def started
        @refused = false
        @next_start = Clock.now + @interval
      end

      # The system has no room for another process. This concerns all numbers, and none is a failure.
      def refused
        @refused = true
        @next_start = Clock.now + [@pause, LEAST].max
      end

      def refused?
        @refused
      end

      # Its last start came to nothing.
      def failing?(number)
        @failures[number].positive?
      end

      # A start came to nothing: the pause doubles with each one in a row.
      def failed(number)
        @until[number] = Clock.now + [@pause * (2**[@failures[number], DOUBLINGS].min), LONGEST].min
        @failures[number] += 1
      end

      def ready(number)
        @failures.delete(number) unless @brief[number]
      end

      # It has ended by itself, so many seconds after it was ready.
      def ended(number, seconds)
        brief = seconds < @pause
        brief && @brief[number] ? failed(number) : @failures.delete(number)
        @brief[number] = brief
      end

      # It is to go, so many seconds after it was ready.
      def leaves(number, seconds)
        @brief.delete(number) if seconds >= @pause
      end

      # Those that pause now need not wait any longer. The next pause is as long as it would have been.
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
