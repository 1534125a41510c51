# frozen_string_literal: true

require_relative "count"

module Bontebok
  module OptionTypes
    # A Count, or puma's MIN:MAX, of which MAX counts.
    class ThreadCount < Count
      PATTERN = /\A(\d+):(\d+)\z/

      def read(value)
        least, most = PATTERN.match(value.to_s.b)&.captures
        return super unless most
        raise Invalid, "the smaller number first" if least.to_i > most.to_i

        super(most)
      end
    end
  end
end
