# frozen_string_literal: true

module Bontebok
  class Children
    # Which children there are to be, as a signal asks for it.
    module Orders
      # All are replaced at once. Who asks for that may have mended what failed: no number pauses any longer.
      def renew
        @pauses.cut_short
        @roster.each { |child| replace(child) }
      end

      # They are replaced one after the other, as if each had asked to leave.
      def renew_slowly
        @pauses.cut_short
        @replacements.add(*@roster)
      end

      # There is to be one more.
      def more
        @roster.grow
        @record.resized
      end

      # There is to be one less, which retires; the last one stays.
      def fewer
        number = @roster.shrink or return
        @record.resized
        @pauses.forget(number)
        @roster.of(number).each { |child| child.retire(@seconds[:retire]) }
      end
    end
  end
end
