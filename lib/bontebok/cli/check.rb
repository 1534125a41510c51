# frozen_string_literal: true

require_relative "../config/config"
require_relative "../log/log"
require_relative "../workers/extension"
require_relative "../sockets/control/control_connection"
require_relative "../sockets/listener_list"
require_relative "../start_failure"
require_relative "../workers/app_loader"
require_relative "../workers/worker_files"

module Bontebok
  # The option --check: makes the checks of a start, without a start. Prints each option with its value and source, the
  # hooks, the warnings, and all faults. Used by CLI.
  class Check
    # Options with files that the server opens to append.
    APPENDED = %i[log stdout].freeze
    # Options with files that the server creates.
    CREATED = %i[pidfile control].freeze
    # Seconds that a running server may take to respond.
    WAIT = 1

    # values, notes: see Config.
    def initialize(values, notes:)
      @faults = []
      @config = Config.new(values, notes: notes, faults: @faults)
    end

    # Returns the exit status: that of a start with these faults.
    def run
      check_start
      print_to($stdout, [*options, *hooks, *@config.warnings, *@config.unread_files, *@note])
      @faults.each { |fault| StartFailure.complain(fault.message) }
      @faults.map(&:status).max || 0
    end

    private

    def check_start
      account = checked_account
      steps = [-> { account.act { AppLoader.new(@config[:rackup], nil).check } },
               -> { account.act { WorkerFiles.check_spool_dir(@config) } },
               -> { Extension.load && account.act { WorkerFiles.check_access_log(@config) } },
               *APPENDED.map { |key| -> { check_file(key) } }, *CREATED.map { |key| -> { check_directory(key) } }]
      [*steps, *address_steps].each { |step| @config.note_faults(&step) }
    end

    # If this process cannot become the user, the other checks are made as the user of this process.
    def checked_account
      @config.note_faults { @config.account.check || @config.account } || Account.new
    end

    # A server of this configuration has the addresses. A start would fail, but a deploy does not.
    def address_steps
      state = state_of_server or return @config[:listen].map { |address| -> { check_address(address) } }

      @note = "a server with the control socket #{@config[:control]} #{state}: the addresses are not checked"
      []
    end

    def check_address(address)
      listeners = ListenerList.make(@config, address)
      listeners.each(&:bind)
    ensure
      listeners&.each(&:close)
    end

    def check_file(key)
      path = @config[key] or return
      return check_directory(key) unless File.exist?(path)

      raise StartError, "#{OptionTable[key].name} #{path}: the file is not writable" unless File.writable?(path)
    end

    def check_directory(key)
      path = @config[key] or return
      directory = File.dirname(path)
      return if path == OptionTypes::ControlPath::NONE || (File.directory?(directory) && File.writable?(directory))

      fault = File.directory?(directory) ? "is not writable" : "does not exist"
      raise StartError, "#{OptionTable[key].name} #{path}: its directory #{fault}"
    end

    # Returns nil if no server has the control socket. A server that does not respond has it, too: a stopped process
    # keeps its addresses.
    def state_of_server
      path = @config[:control]
      return if path.nil? || path == OptionTypes::ControlPath::NONE

      connection = ControlConnection.new(path)
      connection.write("command" => "status")
      return "runs, but does not respond" unless connection.wait(WAIT)

      "runs" if connection.read&.key?("server")
    rescue StartError
      nil
    ensure
      connection&.close
    end

    def options
      rows = @config.report
      widths = [0, 1].map { |column| rows.map { |row| row[column].size }.max }
      rows.map { |name, value, source| "#{name.ljust(widths[0])}  #{value.ljust(widths[1])}  #{source}" }
    end

    # The names of the hooks in the file.
    def hooks
      names = @config.hooks.directives
      names.any? ? ["hooks: #{names.join(', ')}"] : []
    end

    def print_to(stream, lines)
      stream.write(lines.map { |line| "#{line}\n" }.join)
    rescue Errno::EPIPE
      nil
    end
  end
end
