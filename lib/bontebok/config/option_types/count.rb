# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # A whole number without a unit.
    class Count
      attr_reader :metavar

      def initialize(range, metavar: "N")
        @range = range
        @metavar = metavar
      end

      def read(value)
        number = value.is_a?(String) ? Integer(value, 10, exception: false) : value
        return number if number.is_a?(Integer) && @range.cover?(number)

        raise Invalid, "a whole number #{bounds}"
      end

      def show(value)
        value.to_s
      end

      private

      def bounds
        @range.end ? "from #{@range.begin} to #{@range.end}" : "of #{@range.begin} or more"
      end
    end
  end
end
