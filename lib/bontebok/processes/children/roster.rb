# frozen_string_literal: true

module Bontebok
  class Children
    # The children of the supervisor or of a master. Each child has a number (1, 2, 3, ...), and each number must have a
    # child. Used by the class Children. A child and its replacement have the same number, so a number can have several
    # children: one that stays, and others that are replaced or told to end.
    class Roster
      include Enumerable

      attr_reader :numbers

      def initialize(count)
        @numbers = (1..count).to_a
        @children = []
      end

      def each(&)
        @children.each(&)
      end

      def empty?
        @children.empty?
      end

      def add(child)
        @children << child
      end

      def delete(child)
        @children.delete(child)
      end

      def grow
        @numbers << (@numbers.size + 1)
      end

      # Removes the highest number and returns it. Returns nil if there is only one number.
      def shrink
        @numbers.pop if @numbers.size > 1
      end

      def of(number)
        @children.select { |child| child.number == number }
      end

      # Retires those children of the number that wait for their replacement.
      def retire_formers(number, seconds)
        of(number).reject(&:staying?).each { |child| child.retire(seconds) }
      end

      # True if the child need not wait for its replacement. A child that has reached the step must wait. A child that
      # is not loaded need not wait. A loaded child that has not reached the step need not wait if its number has
      # another child that is loaded and not leaving. step: :ready for a worker, :whole for a master.
      def dispensable?(child, step)
        return false if child.reached?(step)

        !child.reached?(:loaded) || reached?(:loaded, of(child.number) - [child])
      end

      # The child that serves until the given child takes its place, or nil.
      def former(child)
        of(child.number).find { |other| other != child && other.reached?(:ready) && !other.leaving? }
      end

      # The numbers without a child that stays.
      def missing
        @numbers.select { |number| of(number).none?(&:staying?) }
      end

      # The missing numbers that may get a new child. A number with a child that hangs gets a new child only while the
      # count of all children is less than twice the count of numbers. A child that only waits for hijacked connections
      # does not count.
      def startable
        hung, others = missing.partition { |number| of(number).any?(&:hung?) }
        room = (2 * @numbers.size) - @children.count { |child| !child.waiting? } - others.size
        others + hung.first([room, 0].max)
      end

      # True if every number is settled. A number is settled if one of its children has reached the step, or if the
      # block returns true for the number. For the step :loaded, one loaded child is enough for all vacant numbers. A
      # child that leaves does not count: in a rollback, the new children have not reached its step yet.
      def settled?(step)
        excused = step == :loaded && reached?(step)
        @numbers.all? do |number|
          reached?(step, of(number)) || (excused && vacant?(number)) || yield(number)
        end
      end

      # True if the number has no child, or only children that leave.
      def vacant?(number)
        of(number).all?(&:leaving?)
      end

      # True if every number has a child that has reached the step and is not leaving.
      def whole?(step)
        @numbers.all? { |number| reached?(step, of(number)) }
      end

      # True if one of the children has reached the step and is not leaving.
      def reached?(step, children = @children)
        children.any? { |child| child.reached?(step) && !child.leaving? }
      end

      # The children with an open channel.
      def audible
        @children.reject(&:deaf?)
      end
    end
  end
end
