# frozen_string_literal: true

module Bontebok
  # Makes file names UTF-8 texts, in any locale. Under LC_ALL=C, Ruby labels the working directory's name as US-ASCII
  # and cannot join it with a UTF-8 name.
  module FileName
    # Bytes that the path of a unix socket can have: sun_path without its NUL (unix(7)).
    LONGEST_SOCKET = 107

    class << self
      # ~ is a home directory. directory: nil is the working directory. It may be gone if the name is absolute. Raises
      # ArgumentError for ~name if there is no such user.
      def absolute(name, directory = nil)
        directory ||= name.b.start_with?("/") ? "/" : Dir.pwd
        text(File.expand_path(name.b, directory.b))
      end

      def text(name) = name.dup.force_encoding(Encoding::UTF_8)
    end
  end
end
