# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  class Children
    # Computes the earliest time for the start of a child. Each child has a number, and its replacement gets the same
    # number. The time depends on how often children with this number have failed in a row. Used by the class Children.
    class Pauses
      # The longest pause after a failure, in seconds.
      LONGEST = 30
      # The pause doubles at most this many times.
      DOUBLINGS = 16
      # Minimum of seconds from a fork that the system rejects to the next attempt. Without a pause, the attempts would
      # take all of a CPU.
      LEAST = 0.1

      attr_writer :pause

      # pause: seconds after a first failure.
      def initialize(pause)
        @pause = pause
        @failures = Hash.new(0)
        @faults = Hash.new(0)
        @brief = {}
        @until = Hash.new(0)
        @next_start = 0
        @refused = false
      end

      def over(number) = [@until[number], @next_start].max

      def started
        @refused = false
      end

      # Called if the system has rejected a fork. All starts wait, but this does not count as a failure.
      def refused
        @refused = true
        @next_start = Clock.now + [@pause, LEAST].max
      end

      def refused? = @refused

      # True if the number's last start has failed.
      def failing?(number) = @failures[number].positive?

      # How many of the number's starts in a row have failed by a fault of the child.
      def faults(number) = @faults[number]

      # Called if a start has failed. The pause doubles with each failure in a row. fault: the child is the cause.
      def failed(number, fault: false)
        @faults[number] += 1 if fault
        @until[number] = Clock.now + [@pause * (2**[@failures[number], DOUBLINGS].min), LONGEST].min
        @failures[number] += 1
      end

      def ready(number)
        @faults.delete(number)
        @failures.delete(number) unless @brief[number]
      end

      # The number's child has ended by itself, `seconds` after it was ready.
      def ended(number, seconds)
        brief = seconds < @pause
        brief && @brief[number] ? failed(number) : @failures.delete(number)
        @brief[number] = brief
      end

      # The number's child is replaced, `seconds` after it was ready.
      def leaves(number, seconds)
        @brief.delete(number) if seconds >= @pause
      end

      # Forgets all failures and rejected forks.
      def clear
        [@failures, @faults, @brief, @until].each(&:clear)
        @next_start = 0
        @refused = false
      end

      # Ends the current pauses. Failures still count for the length of the next pause.
      def cut_short
        @until.clear
      end

      def forget(number)
        [@failures, @faults, @brief, @until].each { |by_number| by_number.delete(number) }
      end
    end
  end
end
