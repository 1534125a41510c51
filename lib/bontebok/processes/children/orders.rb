# frozen_string_literal: true

module Bontebok
  class Children
    # Changes of the number of children, and replacements that a signal asks for.
    module Orders
      # Replaces all children at once. All pauses after failures end, because the user may have repaired the fault.
      def renew
        @pauses.cut_short
        @roster.each { |child| replace(child.blame(:restart)) }
      end

      # Replaces the children one after the other, as if each had asked to leave.
      def renew_slowly
        @pauses.cut_short
        @replacements.add(*@roster.each { |child| child.blame(:restart) })
      end

      # Starts children again after #stop. Failures from before #stop do not count.
      def resume
        @stopping = false
        @pauses.clear
      end

      # How many children there must be.
      def size = @roster.numbers.size

      # Adds a number: one more child is started.
      def more
        @roster.grow
      end

      # Removes a number and retires its children. Does nothing if there is only one number.
      def fewer
        number = @roster.shrink or return
        @pauses.forget(number)
        @roster.of(number).each { |child| child.blame(:fewer).retire(@seconds[:retire]) }
      end
    end
  end
end
