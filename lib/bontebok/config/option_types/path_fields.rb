# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # Fields of the responses to some paths: an Array of texts "/PREFIX Name: value", one such text, or "none". On the
    # command line, the option is given once for each field. The core knows which names and values are valid
    # (WorkerFiles).
    class PathFields
      NONE = "none"
      LINE = %r{\A/[^ \0\n]* +[^ :\0\n]+:[ \t]*[^ \t\0\n][^\0\n]*\z}

      # max: bytes of all texts together, with a newline between two of them.
      def initialize(max)
        @max = max
      end

      def metavar
        "LINE"
      end

      def read(value)
        lines = (Array(value) - [NONE]).map { |line| line.to_s.b.force_encoding(Encoding::UTF_8).freeze }
        return lines.freeze if lines.all? { |line| LINE.match?(line.b) } && lines.join("\n").bytesize <= @max

        raise Invalid, "lines of the form /PREFIX Name: value, of #{@max} bytes in all"
      end

      def show(lines)
        lines.empty? ? NONE : lines.join(", ")
      end
    end
  end
end
