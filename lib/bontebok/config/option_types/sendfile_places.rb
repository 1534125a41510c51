# frozen_string_literal: true

require_relative "../../system/file_name"

module Bontebok
  module OptionTypes
    # Directories, and directories with the beginning of a URI (/uri=DIR): an Array, a text with spaces between the
    # entries, or "none". Directories are made absolute, because the application may change the working directory.
    class SendfilePlaces
      # The core has one text of 1024 bytes for all entries.
      MAX = 1023
      NONE = "none"
      ENTRY = %r{\A(?:(/[^=\0\n]*)=)?([^=\0\n]+)\z}

      def metavar
        "DIRS"
      end

      def read(value)
        words = value.is_a?(Array) ? value.map(&:to_s) : value.to_s.b.split
        places = words == [NONE] ? [] : words.map { |word| place(word) }
        raise Invalid, wanted if places.join("\n").bytesize > MAX

        places.freeze
      end

      def show(places)
        places.empty? ? NONE : places.join(" ")
      end

      private

      def place(word)
        uri, directory = ENTRY.match(word.b)&.captures
        raise Invalid, wanted unless directory

        [*(FileName.text(uri) if uri), FileName.absolute(directory)].join("=").freeze
      rescue ArgumentError # ~name, and there is no such user
        raise Invalid, wanted
      end

      def wanted
        "directories, or /uri=directory, of #{MAX} bytes in all"
      end
    end
  end
end
