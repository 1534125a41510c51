# frozen_string_literal: true

require_relative "file_name"

module Bontebok
  # The text of an exception for a message to the user.
  module ErrorText
    LONGEST = 1000
    # The kernel's errors for a link that leads nowhere. Unlike open(2), bind(2) does not create the file behind a link.
    OF_A_LINK = [Errno::ENOENT, Errno::EADDRINUSE, Errno::ELOOP].freeze
    private_constant :OF_A_LINK

    class << self
      # Describes any exception in one line, with its class. The message may be empty, very long or invalid UTF-8. The
      # method `message` of an application's exception may raise.
      def line(exception)
        text = first_line(exception)
        ["", exception.class.to_s].include?(text) ? exception.class.to_s : "#{text} (#{exception.class})"
      end

      def first_line(exception)
        text = in_one_line(exception.message)
        text.size > LONGEST ? "#{text[0, LONGEST]}..." : text
      rescue StandardError
        ""
      end

      # The first line of any text, as UTF-8.
      def in_one_line(text)
        text = text.to_s.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
        text.scrub.strip.lines(chomp: true).first.to_s
      end

      # path: the file that could not be created or opened for writing; empty: another call failed. Returns the kernel's
      # text, without the text that Ruby adds. ENOENT means that a directory is missing, not the file.
      def of(error, path = "")
        text = SystemCallError.new(nil, error.errno).message
        return text if path.empty?

        link = dangling(path) if OF_A_LINK.include?(error.class)
        return "#{link} is a link to #{FileName.text(File.readlink(link))}, which does not exist" if link

        of_directory(error, path, text)
      end

      private

      def of_directory(error, path, text)
        directory = File.dirname(path)
        return "its directory does not exist" if error.is_a?(Errno::ENOENT) && !File.directory?(directory)
        return text unless error.is_a?(Errno::EACCES) && !File.exist?(path) && File.directory?(directory)

        File.writable?(directory) ? text : "#{text}: its directory is not writable"
      end

      # Returns the path, or the directory above it, that is a link to a missing file; nil: there is none.
      def dangling(path)
        return if File.exist?(path)
        return path if File.symlink?(path)

        above = File.dirname(path)
        dangling(above) unless above == path
      end
    end
  end
end
