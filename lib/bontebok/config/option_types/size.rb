# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # A size in bytes: 65536, "64K", "1M", "2G". "64KB" and "64KiB" mean the same as "64K".
    class Size
      UNITS = { "" => 1, "K" => 1 << 10, "M" => 1 << 20, "G" => 1 << 30 }.freeze
      PATTERN = /\A(\d+)(?:([KMG])(?:i?B)?|B)?\z/i

      def initialize(range)
        @range = range
      end

      def metavar
        "SIZE"
      end

      def read(value)
        match = PATTERN.match(value.to_s.b) or raise Invalid, "a size such as 65536, 64K, 1M or 2G"
        bytes = match[1].to_i * UNITS.fetch(match[2].to_s.upcase)
        return bytes if @range.cover?(bytes)

        raise Invalid, "a size from #{show(@range.begin)} to #{show(@range.end)}"
      end

      def show(bytes)
        return "0" if bytes.zero?

        suffix, unit = UNITS.to_a.reverse.find { |_, factor| (bytes % factor).zero? }
        "#{bytes / unit}#{suffix}"
      end
    end
  end
end
