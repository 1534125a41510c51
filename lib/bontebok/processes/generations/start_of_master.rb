# frozen_string_literal: true

require "io/wait"

require_relative "../../config/supervisor_config"
require_relative "../../log/log_files"
require_relative "../../sockets/handshake"
require_relative "../../sockets/host_names"
require_relative "../../sockets/passed_listeners"
require_relative "../../start_error"
require_relative "../../system/quiet_signals"
require_relative "../../system/start_command"
require_relative "../forked_process"

module Bontebok
  # The supervisor's part of the start of an executed master. The supervisor executes its own start command again, so
  # the new process reads the gems, the configuration and the application as they are now. The two processes then
  # exchange these messages (see Successor for the master's part):
  #
  #   1. The master sends its version, the part of its configuration that the supervisor uses, and the IP addresses of
  #      the host names in it.
  #   2. The supervisor binds the addresses that are new in this configuration, opens its log files, and sends all
  #      descriptors that a master needs. If this fails, the supervisor sends the error, and the master ends.
  #
  # When all workers of the master are ready, the new configuration takes effect in the supervisor.
  class StartOfMaster
    # The version of the messages. A master with another version ends.
    PROTOCOL = 1

    # process: the ForkedProcess. stderr: readable when the master has written to standard error, which is a pipe to the
    # supervisor until the master has the log. canary: the Canary that was ordered, or nil.
    attr_reader :process, :stderr, :canary

    class << self
      # Forks a process that executes the start command, and so loses all other descriptors (close-on-exec). account:
      # the Account of the server. Raises SystemCallError.
      def execute(account, canary, log)
        handshake, master_end = Handshake.pair
        reader, stderr = IO.pipe
        process = ForkedProcess.fork { |channel| become_master(account, channel, master_end, stderr, log) }
        new(process, handshake, reader, canary)
      rescue SystemCallError
        [handshake, reader].compact.each(&:close)
        raise
      ensure
        [master_end, stderr].compact.each(&:close)
      end

      private

      # Runs in the forked process. The user is taken first, so root executes no code of the user.
      def become_master(account, channel, handshake, stderr, log)
        $stderr.reopen(stderr)
        variables = account.assume || {}
        inherited = [channel, handshake].map { |one| one.to_io.tap { |io| io.close_on_exec = false }.fileno }
        variables = variables.merge(Handshake::VARIABLE => inherited.join(","))
        QuietSignals.ignore { |names| StartCommand.execute(variables.merge(QuietSignals.variables(names))) }
      rescue SystemCallError, SecurityError => e
        log.error("the next master cannot be executed", e)
        1
      end
    end

    # handshake: the supervisor's end.
    def initialize(process, handshake, stderr = nil, canary = nil)
      @process = process
      @handshake = handshake
      @stderr = stderr
      @canary = canary
    end

    # Readable when the master has sent its message, or has ended.
    def sources = answered? ? [] : [@handshake.to_io]

    def answered? = @handshake.to_io.closed?

    def asked? = !answered? && !@handshake.to_io.wait_readable(0).nil?

    # Reads the message and fills in the setup. former: the Setup that serves. life_line: to be passed, or
    # nil. The block gets nothing and returns the numbers for the master (a Hash), as soon as the setup is
    # known. Returns whether the master has got its descriptors. An error is sent to the master, which logs it and ends.
    def answer(setup, former, life_line:)
      message, = @handshake.hear
      return false unless message

      read(message, setup, former)
      setup.listeners.bind
      totals = setup.listeners.worker_links.totals
                    .pass(@process.pid, message["layouts"], links: setup.listeners.worker_links.descriptors.any?)
      send_descriptors(setup, life_line, totals, yield)
      true
    rescue StandardError => e # the message can be malformed in many ways, and the supervisor must not end
      refuse(e, setup)
      false
    ensure
      @handshake.close
    end

    def close
      @handshake.close
    end

    private

    def read(message, setup, former)
      unless message["protocol"] == PROTOCOL
        raise StartError, "bontebok #{message['version']} cannot be deployed: restart the server"
      end

      setup.version = message["version"]
      setup.config = SupervisorConfig.new(message.fetch("config"), former.config)
      raise StartError, "max_workers 0 needs a restart of the server" if setup.config.workers.zero?

      setup.listeners = former.listeners.next(setup.config, HostNames::Table.new(message["addresses"]))
    end

    # The supervisor keeps its own descriptors. Those of the totals are the last ones, because an older version ignores
    # descriptors behind the listeners. They are left out if a message has no room for them.
    def send_descriptors(setup, life_line, totals, numbers)
      listeners = setup.listeners
      logs = LogFiles.files(setup.config)
      links = listeners.worker_links.descriptors
      descriptors = [*logs, *links, life_line&.to_io, *listeners.map(&:socket)].compact
      metrics = totals.files.first([Handshake::MOST - descriptors.size, 0].max)
      @handshake.say(
        { protocol: PROTOCOL, generation: setup.number, **numbers, links: links.size, life_line: !life_line.nil?,
          metrics: metrics.size, metrics_shared: totals.shared,
          stored: listeners.stored?, listeners: PassedListeners.describe(listeners) },
        descriptors + metrics
      )
    ensure
      logs&.each(&:close)
    end

    def refuse(error, setup)
      setup.listeners&.discard
      @handshake.say({ protocol: PROTOCOL, error: error.message.dup.force_encoding(Encoding::UTF_8).scrub })
    rescue StandardError
      nil # the master has ended
    end
  end
end
