# frozen_string_literal: true

module Bontebok
  # Reads a file with Ruby code: the configuration file, the rackup file. The file is UTF-8, whatever the locale and
  # Ruby's flags -E and -K say. With these flags, File.read would convert the text.
  module SourceFile
    BOM = "\xEF\xBB\xBF".b.freeze
    # The byte order marks of UTF-16 and UTF-32.
    OTHER_BOM = /\A(?:\xFF\xFE|\xFE\xFF|\0\0\xFE\xFF)/n

    # Raises SystemCallError, or ArgumentError if the file has another encoding.
    def self.read(path)
      text = File.binread(path)
      raise ArgumentError, "the file is in UTF-16 or UTF-32: save it in UTF-8" if OTHER_BOM.match?(text)

      text.delete_prefix(BOM).force_encoding(Encoding::UTF_8)
    end
  end
end
