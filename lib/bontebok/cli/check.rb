# frozen_string_literal: true

require_relative "../config/config"
require_relative "../log/log_files"
require_relative "../processes/pidfile"
require_relative "../system/extension"
require_relative "../sockets/control/control_socket"
require_relative "../sockets/listener_list"
require_relative "../start_failure"
require_relative "../system/file_name"
require_relative "../workers/app_loader"
require_relative "../workers/worker_files"
require_relative "server_search"

module Bontebok
  # The option --check: makes the checks of a start, without a start. Prints each option with its value and source, the
  # hooks, the warnings, and all faults. Used by CLI.
  class Check
    # Seconds that a running server may take to respond.
    WAIT = 1

    # values, notes: see Config. faults: each StartError of the command line.
    def initialize(values, notes:, faults: [])
      @faults = Faults.new(faults)
      @remarks = []
      @config = Config.new(values, notes: notes, faults: @faults)
    end

    # Returns the exit status: that of a start with these faults.
    def run
      check_start
      lines = [*options, *hooks, *@config.warnings, *@config.advice, *@remarks]
      Output.show(lines.map { |line| "#{FileName.text(line)}\n" }.join)
      @faults.messages.each { |message| StartFailure.complain(message) }
      @faults.status
    end

    private

    def check_start
      account = checked_account
      check(:rackup) { account.act { check_rackup(AppLoader.new(@config[:rackup], nil)) } }
      check(:spool_dir) { account.act { WorkerFiles.check_spool_dir(@config) } }
      check(:log) { check_log(:log, $stderr, account) }
      check(:stdout) { check_log(:stdout, $stdout, account) }
      if @faults.note { Extension.load }
        @faults.note { check_access_log_format }
        @faults.note { check_access_log(account) }
        @faults.note { WorkerFiles.check_public(@config, account) }
      end
      check_what_a_server_has(account)
    end

    def check(key, &block)
      @faults.note { @config.at(key, &block) }
    end

    # If this process cannot become the user, the other checks are made as the user of this process.
    def checked_account
      @faults.note { @config.account.check || @config.account } || Account.new
    end

    def check_rackup(loader)
      loader.check
      loader.check_syntax
    end

    def check_log(key, stream, account)
      path = @config[key]
      LogFiles.check(path, account) unless path.nil? || File.identical?(path, stream)
    end

    # Without an access log, a start does not read the format.
    def check_access_log_format
      return if @config[:access_log].empty?

      WorkerFiles.check_access_log(@config, access_log: File::NULL)
    end

    # A start creates the file of the access log, and the check of the core would create it, too. A wrong format is a
    # fault of its own.
    def check_access_log(account)
      path = @config[:access_log]
      return if path.empty?
      return @config.at(:access_log) { LogFiles.check(path, account) } if path.start_with?("/") && !File.exist?(path)

      format = OptionTable[:access_log_format].default
      account.act { WorkerFiles.check_access_log(@config, access_log_format: format) }
    end

    # A running server of this configuration has the addresses. A start would fail, but a deploy does not.
    def check_what_a_server_has(account)
      if (state = state_of_server)
        @remarks << "a server with the control socket #{state}: its addresses and its pid file are not checked"
      else
        check(:pidfile) { Pidfile.new(@config[:pidfile]).check } if @config[:pidfile]
        check_control(account)
        check_addresses unless @config.wrong?(:listen)
      end
    end

    # The server starts without a control socket, too.
    def check_control(account)
      ControlSocket.check(@config[:control], uid: account.uid) if control?
    rescue StartError => e
      @remarks << "no commands are taken: #{e.message}"
    end

    # All addresses are bound at the same time, because two of them may exclude each other.
    def check_addresses
      listeners = @config[:listen].flat_map do |address|
        @faults.note { ListenerList.make(@config, address) } || []
      end
      @faults.note { ListenerList.check_size(listeners) }
      listeners.each { |listener| @faults.note { listener.check } }
    ensure
      listeners&.each(&:close)
    end

    def control?
      !OptionTypes::ControlPath.unset?(@config[:control])
    end

    # Returns the control socket of a running server and what the server does; nil: none runs. A server that does not
    # respond runs, too: a stopped process keeps its addresses.
    def state_of_server
      return unless control?

      connection = ServerSearch.new(@config).connection
      connection.write("command" => "status")
      message = connection.read(Deadline.new(WAIT))
      return "#{connection.path} runs, but does not respond" if message == false

      "#{connection.path} runs" if message&.key?("server")
    rescue StartError
      nil
    ensure
      connection&.close
    end

    def options
      rows = @config.report.map { |row| row.map { |text| FileName.text(text) } }
      widths = [0, 1].map { |column| rows.map { |row| row[column].size }.max }
      rows.map { |name, value, source| "#{name.ljust(widths[0])}  #{value.ljust(widths[1])}  #{source}" }
    end

    # The names of the hooks in the file.
    def hooks
      names = @config.hooks.directives
      names.any? ? ["hooks: #{names.join(', ')}"] : []
    end
  end
end
