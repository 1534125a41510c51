# frozen_string_literal: true

require_relative "count"

module Bontebok
  module OptionTypes
    # A Count, or `auto`, for which Config computes the number.
    class CountOrAuto < Count
      def read(value)
        return :auto if value.to_s == "auto"

        super
      rescue Invalid => e
        raise Invalid, "auto or #{e.message}"
      end
    end
  end
end
