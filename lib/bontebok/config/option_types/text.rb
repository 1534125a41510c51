# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # A text with bytes that match a pattern. Like a file name, the text may be invalid UTF-8.
    class Text
      # A user may be a number.
      KINDS = [String, Symbol, Integer].freeze

      attr_reader :metavar

      def initialize(metavar, pattern, wanted)
        @metavar = metavar
        @pattern = pattern
        @wanted = wanted
      end

      def read(value)
        text = value.to_s
        raise Invalid, @wanted unless KINDS.any? { |kind| value.is_a?(kind) } && @pattern.match?(text.b)

        text.dup.freeze
      end

      def show(value)
        value.empty? ? "none" : value
      end
    end
  end
end
