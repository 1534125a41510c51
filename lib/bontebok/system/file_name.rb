# frozen_string_literal: true

module Bontebok
  # Names of files are bytes. As text they are UTF-8, in any locale. Under LC_ALL=C Ruby takes the working directory's
  # name for US-ASCII and cannot join it with a UTF-8 name.
  module FileName
    class << self
      # ~ is a home directory. Raises ArgumentError for ~name if there is no user of that name.
      def absolute(name, directory = Dir.pwd)
        text(File.expand_path(name.b, directory.b))
      end

      def text(name)
        name.dup.force_encoding(Encoding::UTF_8)
      end
    end
  end
end
