# frozen_string_literal: true

require_relative "../system/error_text"

module Bontebok
  # The part of Config that finds another directory if the user has not set spool_dir, and files cannot be made there.
  module SpoolDir
    # Directories for the temporary files of all users. If they are sticky, nobody can replace a file of another user.
    OTHERS = %w[/tmp /var/tmp].freeze
    # Creates a file without a name; 0 on systems that do not know such files.
    WITHOUT_NAME = File::RDWR | (defined?(File::TMPFILE) ? File::TMPFILE : 0)
    # The sources of a directory that the user has not chosen for this server, and what a message calls it.
    NAMES = { "environment TMPDIR" => "TMPDIR", "default" => "spool_dir" }.freeze
    private_constant :WITHOUT_NAME

    # Returns the kernel's text why no file can be made in the directory; nil: files can be made. A full disk may have
    # room again when a request needs it.
    def self.fault(directory)
      File.open(directory, WITHOUT_NAME, 0o600, &:close)
    rescue Errno::ENOSPC, Errno::EDQUOT, Errno::EMFILE, Errno::ENFILE
      nil
    rescue SystemCallError => e
      # This file system may not know files without a name.
      ErrorText.of(e) unless File.directory?(directory) && File.writable?(directory)
    end

    private

    # Ruby's Dir.tmpdir also takes another directory if it cannot write to TMPDIR. The application's user has to be able
    # to write (option `user`).
    def choose_spool_dir
      wanted = setting(OptionTable[:spool_dir])
      name = NAMES[wanted.source] or return
      fault = fault_for_user(wanted.value) or return
      found = OTHERS.find { |directory| File.sticky?(directory) && !fault_for_user(directory) } or return
      @warnings += ["#{name} #{wanted.value} cannot be written to: #{fault}. Temporary files are made in #{found}"]
      @settings[:spool_dir] = Sources::Setting.new(found, "instead of #{name}")
    rescue SystemCallError
      nil # the start reports it
    end

    def fault_for_user(directory)
      account.act { SpoolDir.fault(directory) }
    end
  end
end
