# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # Paths of requests, not percent-decoded: an Array, a text with spaces between the paths, or "none".
    class Paths
      # The core has one text of 256 bytes for all paths.
      MAX = 255
      NONE = "none"
      PATH = %r{\A/[!-~&&[^?#]]*\z}

      def metavar
        "PATHS"
      end

      def read(value)
        paths = value == NONE ? [] : Array(value).flat_map { |text| text.to_s.b.split }
        return paths.freeze if paths.all?(PATH) && show(paths).size <= MAX

        raise Invalid, "paths that begin with /, of #{MAX} characters in all"
      end

      def show(paths)
        paths.empty? ? NONE : paths.join(" ")
      end
    end
  end
end
