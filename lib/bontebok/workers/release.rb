# frozen_string_literal: true

require_relative "../start_error"
require_relative "../system/working_directory"
require_relative "app_loader"
require_relative "worker_files"

module Bontebok
  # What a generation serves: the application, and the open directories of the option public. The directories are opened
  # first, because the application can change the working directory, and a deploy can change links. Processes that are
  # forked later have the same release. Used by Master, Worker, SingleProcess, Launcher, ServerRun.
  class Release
    # public: a Core::Public; nil: no files are served.
    attr_reader :app, :public

    # Enters the working directory again by its name, which may lead to another directory now. Opens the directories and
    # loads the application. Raises AppLoader::Failed.
    def self.load(config, log)
      WorkingDirectory.enter_again(log)
      public = WorkerFiles.open_public(config)
      new(AppLoader.new(config[:rackup], log).load, public)
    rescue StartError => e
      raise AppLoader::Failed, e.message, cause: nil
    end

    # Checks the worker's files and opens the directories, for a program with its own application. Raises StartError.
    def self.around(app, config)
      WorkerFiles.check_spool_dir(config)
      WorkerFiles.check_access_log(config)
      WorkerFiles.check_public(config)
      new(app, WorkerFiles.open_public(config))
    end

    # app: the application, which is loaded already.
    def initialize(app, public)
      @app = app
      @public = public
    end
  end
end
