# frozen_string_literal: true

module Bontebok
  # The text of a SystemCallError for a message to the user.
  module ErrorText
    # path: the file that could not be created or opened for writing; empty: none. Returns the kernel's text, without
    # the text that Ruby adds. ENOENT means that a directory is missing, not the file.
    def self.of(error, path)
      text = SystemCallError.new(nil, error.errno).message
      return text if path.empty?

      directory = File.dirname(path)
      return "its directory does not exist" if error.is_a?(Errno::ENOENT) && !File.directory?(directory)
      return text unless error.is_a?(Errno::EACCES) && !File.exist?(path) && File.directory?(directory)

      File.writable?(directory) ? text : "#{text}: its directory is not writable"
    end
  end
end
