# frozen_string_literal: true

require_relative "../sockets/adopted_sockets"
require_relative "../workers/app_loader"
require_relative "../workers/release"
require_relative "../workers/worker_files"
require_relative "../sockets/control/other_server"
require_relative "../sockets/listeners"
require_relative "../sockets/passed_listeners"
require_relative "../log/log"
require_relative "../log/log_files"
require_relative "../system/extension"
require_relative "pidfile"
require_relative "process_preparation"
require_relative "../sockets/service/service_report"
require_relative "../start_failure"

module Bontebok
  # Runs a server with the effective configuration until the server ends. Used by CLI and RackHandler. This class checks
  # the user and the files, prepares the process, and runs the supervisor. With `-w 0`, it runs the single process
  # instead.
  class Launcher
    # app: the application, if rackup has loaded it; else nil.
    # manager: the ServiceManager.
    def initialize(config, app: nil, manager: ServiceManager.take(ENV),
                   log: Log.new(format: config[:log_format], level: config[:log_level]))
      @config = config
      @app = app
      @manager = manager
      @store = ListenerStore.new(manager)
      @log = log
    end

    # Returns the exit status. Raises StartError.
    def run
      @config.warnings.concat(@config.advice)
      @config.account.check
      check_files
      write_pidfile
      Pidfile.keep(pidfile) do
        ProcessPreparation.run(@config, @log, descriptors: @app.nil?) { open_logs }
        kind = process
        release = check_worker_files
        kind.new(@config, listeners, release: release, log: @log, service: ServiceReport.new(@manager, @store)).run
      end
    end

    private

    # The pid file is written before the log is opened. So a second server fails before it writes to the log of the
    # first server.
    def write_pidfile
      ProcessPreparation.survive_file_size_limit
      @config.at(:pidfile) { Pidfile.new(pidfile).write } if pidfile
    end

    def pidfile
      @config[:pidfile]&.then { |path| FileName.absolute(path, WorkingDirectory.name) }
    end

    # Returns the class to run. The file of this class is loaded here, before any fork. The file of the other class is
    # never loaded.
    def process
      Extension.load
      if @config.workers.zero?
        require_relative "single_process"
        SingleProcess
      else
        require_relative "supervisor"
        Supervisor
      end
    end

    def listeners
      adopted = AdoptedSockets.take(ENV, log: @log)
      former = PassedListeners.inherit(ENV) + @store.recall(adopted)
      Listeners.of(@config, log: @log, adopted: adopted, former: former, stored: @manager.present?,
                            other: (other_server(adopted) if former.empty?))
               .tap { |listeners| @store.drop(former - listeners.to_a) }
    end

    def other_server(adopted)
      wanted = adopted.any? ? adopted.all?(&:start_server?) : @config[:reuse_port]
      OtherServer.find(@config[:control]) if wanted && @config[:control]
    end

    def open_logs
      return LogFiles.open(@config) unless @config[:log]

      starter = StartFailure.keep_starter(@config[:log]) { LogFiles.open(@config) }
      @log.follow
      @log.witness = starter.dup if starter
    end

    def check_files
      at_as_user(:rackup) { AppLoader.new(@config[:rackup], @log).check } unless @app
      at_as_user(:spool_dir) { WorkerFiles.check_spool_dir(@config) }
    end

    # Returns the Release if rackup has loaded its application; else the process that loads it opens the directories.
    def check_worker_files
      @config.account.act { WorkerFiles.check_access_log(@config) }
      WorkerFiles.check_public(@config)
      Release.new(@app, @config.account.act { WorkerFiles.open_public(@config) }) if @app
    end

    def at_as_user(key, &check)
      @config.at(key) { @config.account.act(&check) }
    end
  end
end
