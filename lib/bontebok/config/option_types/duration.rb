# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # A duration such as 30, 0.5, "500ms", "2m" or "1h". A number without a unit is in seconds. The effective value is
    # in milliseconds.
    class Duration
      UNITS = { "ms" => 1, "s" => 1000, "" => 1000, "m" => 60_000, "h" => 3_600_000 }.freeze
      PATTERN = /\A(\d+(?:\.\d+)?)(ms|s|m|h|)\z/
      LONGEST = 365 * 24 * 3_600_000

      def metavar
        "SECONDS"
      end

      def read(value)
        match = PATTERN.match(value.to_s.b) or raise Invalid, "a time such as 30, 0.5, 500ms, 2m or 1h"
        milliseconds = (match[1].to_r * UNITS.fetch(match[2])).round
        return milliseconds if milliseconds <= LONGEST && (milliseconds.positive? || match[1].to_r.zero?)

        raise Invalid, "a time from 1 ms to a year, or 0"
      end

      def show(milliseconds)
        (milliseconds % 1000).zero? ? (milliseconds / 1000).to_s : milliseconds.fdiv(1000).to_s
      end
    end
  end
end
