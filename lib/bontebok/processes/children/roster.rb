# frozen_string_literal: true

module Bontebok
  class Children
    # The workers of a master. Each worker has a number (1, 2, 3, ...), and each number must have a worker. A worker and
    # its replacement have the same number, so a number can have several workers: one that stays, and others that are
    # replaced or told to end. Used by Children and Rules.
    class Roster
      include Enumerable

      attr_reader :numbers

      def initialize(count)
        @numbers = (1..count).to_a
        @children = []
        @queue = []
      end

      def each(&) = @children.each(&)

      def empty? = @children.empty?

      # How many workers there must be.
      def size = @numbers.size

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

      def of(number) = @children.select { |child| child.number == number }

      # These workers wait to be replaced, one after the other. A worker that waits already keeps its place.
      def queue(*children)
        @queue |= children
      end

      # Takes the worker from the queue that must be replaced now, and returns it; nil: none. A worker is replaced when
      # the previous one has ended. So there is at most one additional process, however many workers wait. Workers that
      # hang are not queued, and no worker waits for them.
      def next_in_queue
        @queue = (@queue & @children).select(&:staying?)
        @queue.shift if all? { |child| child.staying? || child.hung? }
      end

      # True if the worker need not wait for its replacement. A worker that is ready must wait. A worker that is not
      # loaded need not wait. A loaded worker that is not ready need not wait if its number has another worker that is
      # loaded and not leaving.
      def dispensable?(child)
        return false if child.reached?(:ready)

        !child.reached?(:loaded) || reached?(:loaded, of(child.number) - [child])
      end

      # The numbers without a worker that stays.
      def missing = @numbers.select { |number| of(number).none?(&:staying?) }

      # The missing numbers that may get a new worker. A number with a worker that hangs gets a new worker only while
      # the count of all workers is less than twice the count of numbers. A worker that only waits for hijacked
      # connections does not count.
      def startable
        hung, others = missing.partition { |number| of(number).any?(&:hung?) }
        room = (2 * @numbers.size) - @children.count { |child| !child.waiting? } - others.size
        others + hung.first([room, 0].max)
      end

      # True if every number is settled. A number is settled if one of its workers has reached the step, or if the
      # block returns true for the number. For the step :loaded, one loaded worker is enough for all vacant numbers. A
      # worker that leaves does not count: in a rollback, the new workers have not reached its step yet.
      def settled?(step)
        excused = step == :loaded && reached?(step)
        @numbers.all? do |number|
          reached?(step, of(number)) || (excused && vacant?(number)) || yield(number)
        end
      end

      # True if the number has no worker, or only workers that leave.
      def vacant?(number) = of(number).all?(&:leaving?)

      # True if every number has a worker that has reached the step and is not leaving.
      def whole?(step = :ready) = @numbers.all? { |number| reached?(step, of(number)) }

      # True if one of the workers has reached the step and is not leaving.
      def reached?(step, children = @children) = children.any? { |child| child.reached?(step) && !child.leaving? }

      # True if all workers only wait for hijacked connections and streams.
      def waiting? = !empty? && all?(&:waiting?)

      # The workers with an open channel.
      def audible = reject(&:deaf?)
    end
  end
end
