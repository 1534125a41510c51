# frozen_string_literal: true

require_relative "../system/error_text"

module Bontebok
  # Finds another directory if the user has not set spool_dir, and files cannot be made there.
  module SpoolDir
    # Directories for the temporary files of all users. If they are sticky, nobody can replace a file of another user.
    OTHERS = %w[/tmp /var/tmp].freeze
    # Creates a file without a name; 0 on systems that do not know such files.
    WITHOUT_NAME = File::RDWR | (defined?(File::TMPFILE) ? File::TMPFILE : 0)
    # The sources of a directory that the user has not chosen for this server, and what a message calls it.
    NAMES = { "environment TMPDIR" => "TMPDIR", "default" => "spool_dir" }.freeze
    private_constant :WITHOUT_NAME

    class << self
      # Returns the kernel's text why no file can be made in the directory; nil: files can be made. A full disk may have
      # room again when a request needs it.
      def fault(directory)
        File.open(directory, WITHOUT_NAME, 0o600, &:close)
      rescue Errno::ENOSPC, Errno::EDQUOT, Errno::EMFILE, Errno::ENFILE
        nil
      rescue SystemCallError => e
        # This file system may not know files without a name.
        ErrorText.of(e) unless File.directory?(directory) && File.writable?(directory)
      end

      # Returns another directory, its source, and a text for the log; nil: the directory is used. Ruby's Dir.tmpdir
      # also takes another directory if it cannot write to TMPDIR. account: of the application, which has to be able to
      # write.
      def instead_of(directory, source, account)
        name = NAMES[source] or return
        fault = account.act { fault(directory) } or return
        found = OTHERS.find { |other| File.sticky?(other) && !account.act { fault(other) } } or return
        [found, "instead of #{name}",
         "#{name} #{directory} cannot be written to: #{fault}. Temporary files are made in #{found}"]
      rescue SystemCallError
        nil # the start reports it
      end
    end
  end
end
