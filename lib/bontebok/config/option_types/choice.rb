# frozen_string_literal: true

require_relative "text"

module Bontebok
  module OptionTypes
    # One of several words.
    class Choice < Text
      attr_reader :words

      def initialize(metavar, words)
        super(metavar, /\A#{Regexp.union(words)}\z/, "#{words[..-2].join(', ')} or #{words.last}")
        @words = words.freeze
      end
    end
  end
end
