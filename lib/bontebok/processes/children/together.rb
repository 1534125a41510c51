# frozen_string_literal: true

module Bontebok
  class Children
    # The part of Children for the workers of a new generation while a former one serves. The workers serve together: no
    # worker serves before a worker of each number is prepared. So a release whose workers fail serves no request.
    module Together
      # Whether the children serve together.
      attr_writer :together

      def together?
        @together
      end

      # A number of which two children in a row have ended before they were ready, by a fault of their own; nil: none.
      def hopeless
        @roster.numbers.find { |number| @pauses.faults(number) > 1 }
      end

      private

      def let_serve
        return if together? && !@roster.whole?(:prepared)

        @roster.each { |child| child.serve(@seconds[:boot]) }
      end
    end
  end
end
