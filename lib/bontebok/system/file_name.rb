# frozen_string_literal: true

module Bontebok
  # Makes file names UTF-8 texts, in any locale. Under LC_ALL=C, Ruby labels the working directory's name as US-ASCII
  # and cannot join it with a UTF-8 name.
  module FileName
    class << self
      # ~ is a home directory. Raises ArgumentError for ~name if there is no such user.
      def absolute(name, directory = Dir.pwd)
        text(File.expand_path(name.b, directory.b))
      end

      def text(name)
        name.dup.force_encoding(Encoding::UTF_8)
      end
    end
  end
end
