# frozen_string_literal: true

require_relative "../sockets/adopted_sockets"
require_relative "../workers/app_loader"
require_relative "../workers/worker_files"
require_relative "../system/command_limits"
require_relative "../sockets/listeners"
require_relative "../log/log"
require_relative "../log/log_files"
require_relative "pidfile"
require_relative "../start_failure"

module Bontebok
  # Runs a server with the effective configuration until the server ends. Used by CLI and RackHandler. This class checks
  # the user and the files, prepares the process, and runs the supervisor. With `-w 0`, it runs the single process
  # instead.
  class Launcher
    # app: the application, if rackup has loaded it; else nil.
    def initialize(config, app: nil, log: Log.new(format: config[:log_format], level: config[:log_level]))
      @config = config
      @app = app
      @log = log
    end

    # Returns the exit status. Raises StartError.
    def run
      @config.account.check
      @config.account.act { check_files }
      with_pidfile do
        prepare_process
        kind = process
        @config.account.act { WorkerFiles.check_access_log(@config) }
        kind.new(@config, listeners, app: @app, log: @log).run
      end
    end

    private

    # The pid file is written before the log is opened. So a second server fails before it writes to the log of the
    # first server.
    def with_pidfile
      path = @config[:pidfile] or return yield
      pidfile = Pidfile.new(path)
      pidfile.write
      begin
        yield
      ensure
        pidfile.remove
      end
    end

    # Returns the class to run. The file of this class is loaded here, before any fork. The file of the other class is
    # never loaded.
    def process
      if @config.workers.zero?
        require_relative "single_process"
        SingleProcess
      else
        require_relative "supervisor"
        Supervisor
      end
    rescue LoadError => e
      raise unless e.path == "bontebok/bontebok"

      raise StartError, "its extension is not built; `gem pristine bontebok` builds it, in a checkout bin/setup does"
    end

    def listeners
      Listeners.new(@config, log: @log, adopted: AdoptedSockets.take(ENV, log: @log))
    end

    def check_files
      AppLoader.new(@config[:rackup], @log).check unless @app
      WorkerFiles.check_spool_dir(@config)
    end

    def prepare_process
      File.umask(@config[:umask]) if @config[:umask]
      open_logs
      ENV["RACK_ENV"] = @config[:environment]
      ENV["TMPDIR"] = @config[:spool_dir] unless @config.source(:spool_dir) == "default"
      raise_file_limit
      survive_file_size_limit
      keep_descriptors_to_ourselves unless @app
      $stdout.sync = true
    end

    def open_logs
      return LogFiles.open(@config) unless @config[:log]

      StartFailure.keep_starter(@config[:log]) { LogFiles.open(@config) }
      @log.follow
    end

    # The process may have inherited descriptors beyond the standard streams. Commands that the application executes
    # must not get these descriptors. Call this method before the application is loaded, because the application may
    # open descriptors for its commands.
    def keep_descriptors_to_ourselves
      Dir.children("/proc/self/fd").map(&:to_i).select { |fd| fd > 2 }.each do |fd|
        IO.for_fd(fd, autoclose: false).close_on_exec = true
      rescue SystemCallError, ArgumentError
        next # the directory's own descriptor, or one that Ruby reserves
      end
    end

    # Raises the soft limit of open files to the hard limit, because each connection needs a descriptor. The soft limit
    # is low only for programs that use select(2). The kernel rejects the new limit if the hard limit is above
    # fs.nr_open.
    def raise_file_limit
      soft, hard = Process.getrlimit(:NOFILE)
      return unless soft < hard

      Process.setrlimit(:NOFILE, hard, hard)
      CommandLimits.install(soft, hard)
    rescue SystemCallError => e
      @log.warn("the limit of open files stays #{soft}: #{e.message}")
    end

    # A write beyond RLIMIT_FSIZE must fail with EFBIG. Without a handler, SIGXFSZ would end the process. The handler is
    # empty. It is not "IGNORE", because a command that the application executes would inherit "IGNORE". Ruby has an
    # empty handler for SIGPIPE, too.
    def survive_file_size_limit
      Signal.trap("XFSZ", proc {})
    end
  end
end
