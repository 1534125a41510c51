# frozen_string_literal: true

require_relative "../system/quiet_signals"
require_relative "../system/replaced/command_limits"

module Bontebok
  # Prepares a process that was started or executed, before it forks and before it loads the application. Used by
  # Launcher and Successor.
  module ProcessPreparation
    # The directory with the descriptors of this process: Linux, other systems.
    DESCRIPTORS = %w[/proc/self/fd /dev/fd].freeze

    # The highest limit of open files that macOS accepts if there is no hard limit (OPEN_MAX).
    MOST_FILES = 10_240
    private_constant :MOST_FILES

    class << self
      # The block opens the log files. descriptors: false if the application is loaded already.
      def run(config, log, descriptors: true)
        QuietSignals.take(ENV)
        File.umask(config[:umask]) if config[:umask]
        yield
        ENV["RACK_ENV"] = config[:environment]
        ENV["TMPDIR"] = config[:spool_dir] unless config.source(:spool_dir) == "default"
        raise_file_limit(log)
        keep_descriptors_to_ourselves if descriptors
        $stdout.sync = true
      end

      # Prepares a supervisor that was executed in place of the former one.
      def again(log)
        raise_file_limit(log)
        survive_file_size_limit
        $stdout.sync = true
      end

      # Called before the process writes a file. A write beyond RLIMIT_FSIZE must fail with EFBIG. Without a handler,
      # SIGXFSZ would end the process. The handler is empty. It is not "IGNORE", because a command that the application
      # executes would inherit "IGNORE". Ruby has an empty handler for SIGPIPE, too.
      def survive_file_size_limit
        Signal.trap("XFSZ", proc {})
      end

      private

      # The process may have inherited descriptors beyond the standard streams. Commands that the application executes
      # must not get these descriptors. Call this method before the application is loaded, because the application may
      # open descriptors for its commands.
      def keep_descriptors_to_ourselves
        Dir.children(DESCRIPTORS.find { |path| File.directory?(path) }).map(&:to_i).select { |fd| fd > 2 }.each do |fd|
          IO.for_fd(fd, autoclose: false).close_on_exec = true
        rescue SystemCallError, ArgumentError
          next # the directory's own descriptor, or one that Ruby reserves
        end
      end

      # Raises the soft limit of open files to the hard limit, because each connection needs a descriptor. The soft
      # limit is low only for programs that use select(2). The kernel rejects the new limit if the hard limit is above
      # fs.nr_open.
      def raise_file_limit(log)
        soft, hard = Process.getrlimit(:NOFILE)
        hard = MOST_FILES if hard == Process::RLIM_INFINITY
        return unless soft < hard

        Process.setrlimit(:NOFILE, hard, hard)
        CommandLimits.install(soft, hard)
      rescue SystemCallError => e
        log.warn("the limit of open files stays #{soft}: #{e.message}")
      end
    end
  end
end
