# frozen_string_literal: true

require_relative "command_line"
require_relative "../config/config"
require_relative "../log/log_files"
require_relative "../processes/supervisor/state"
require_relative "../sockets/handshake"
require_relative "../sockets/service/service_manager"
require_relative "../system/start_command"

module Bontebok
  # The command without a name: starts a server, or continues one that has executed this process. CLI runs it.
  class ServeCommand
    # argv: of this process. command_line: CommandLine.
    def initialize(argv, command_line)
      @argv = argv
      @command_line = command_line
    end

    # Returns the exit status.
    def run
      note_start
      LogFiles.discard_unread
      return succeed if ENV.key?(Handshake::VARIABLE)

      manager = ServiceManager.take(ENV)
      return resume(manager) if ENV.key?(Supervisor::State::VARIABLE)

      launch(manager)
    end

    private

    def note_start
      named = @command_line.values.keys.intersect?(CommandLine::AT_START)
      found = Sources::FILE if !named && File.file?(Sources::FILE)
      StartCommand.note(@argv, paths: @command_line.paths_at_start, found: found)
    end

    # The supervisor of a running server has executed this process, which becomes a master.
    def succeed
      require_relative "../processes/successor"
      inherited = Successor.inherit(ENV)
      Successor.new(Config.new(@command_line.values), *inherited).run
    end

    # A supervisor has executed this process, which takes its place.
    def resume(manager)
      require_relative "../processes/supervisor/resumption"
      Supervisor::Resumption.new(Supervisor::State.take(ENV), manager).run
    end

    def launch(manager)
      config = Config.new(@command_line.values, notes: @command_line.notes)
      require_relative "../processes/launcher"
      Launcher.new(config, manager: manager).run
    end
  end
end
