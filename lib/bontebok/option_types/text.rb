# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # A text that must match the pattern.
    class Text
      attr_reader :metavar

      def initialize(metavar, pattern, wanted)
        @metavar = metavar
        @pattern = pattern
        @wanted = wanted
      end

      def read(value)
        text = value.to_s
        raise Invalid, @wanted unless text.valid_encoding? && @pattern.match?(text)

        text.dup.freeze
      end

      def show(value)
        value.empty? ? "none" : value
      end
    end
  end
end
