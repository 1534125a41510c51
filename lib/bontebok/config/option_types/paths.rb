# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # Paths of requests, not percent-decoded: an Array, a text with spaces between the paths, or "none".
    class Paths
      NONE = "none"
      PATH = %r{\A/[!-~&&[^?#]]*\z}

      # max: bytes of all paths together, with the spaces between them.
      def initialize(max)
        @max = max
      end

      def metavar
        "PATHS"
      end

      def read(value)
        paths = value == NONE ? [] : Array(value).flat_map { |text| text.to_s.b.split }
        return paths.freeze if paths.all?(PATH) && show(paths).size <= @max

        raise Invalid, "paths that begin with /, of #{@max} characters in all"
      end

      def show(paths)
        paths.empty? ? NONE : paths.join(" ")
      end
    end
  end
end
