# frozen_string_literal: true

module Bontebok
  class Children
    # Which numbers there must be, and who is there, for Children. A number may have several children: one that stays,
    # and others that are on their way out.
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

      # One number more.
      def grow
        @numbers << (@numbers.size + 1)
      end

      # One number less, which is returned; nil: the last one stays.
      def shrink
        @numbers.pop if @numbers.size > 1
      end

      def of(number)
        @children.select { |child| child.number == number }
      end

      # Those who have waited for somebody to take their place.
      def retire_formers(number, seconds)
        of(number).reject(&:staying?).each { |child| child.retire(seconds) }
      end

      # Nothing is served less without it: it has not loaded yet, or has not come so far as it must and another of its
      # number may serve.
      def dispensable?(child, step)
        return false if child.reached?(step)

        !child.reached?(:loaded) || (of(child.number) - [child]).any? { |other| serving?(other) }
      end

      # The one that serves until the given one takes its place; nil: nobody does.
      def former(child)
        of(child.number).find { |other| other != child && other.reached?(:ready) && !other.leaving? }
      end

      # The numbers for which nobody stays.
      def missing
        @numbers.select { |number| of(number).none?(&:staying?) }
      end

      # Those of them whose child may be started. Beside those that hang there are never more than twice as many
      # children as there must be.
      def startable
        hung, others = missing.partition { |number| of(number).any?(&:hung?) }
        room = (2 * @numbers.size) - @children.size - others.size
        others + hung.first([room, 0].max)
      end

      # Every number has one that came so far, or is excused by the block. Once anybody is loaded nobody has to wait
      # until those are who were not even started yet.
      def settled?(step)
        excused = step == :loaded && any? { |child| child.reached?(step) }
        @numbers.all? do |number|
          children = of(number)
          children.any? { |child| child.reached?(step) } || (excused && children.empty?) || yield(number)
        end
      end

      # Every number has one that came so far and goes on.
      def whole?(step)
        @numbers.all? { |number| of(number).any? { |child| child.reached?(step) && !child.leaving? } }
      end

      # Those who may still say something.
      def audible
        @children.reject(&:deaf?)
      end

      private

      def serving?(child)
        child.reached?(:loaded) && !child.leaving?
      end
    end
  end
end
