# frozen_string_literal: true

require_relative "../config/supervisor_config"
require_relative "../log/log_files"
require_relative "../sockets/handshake"
require_relative "../sockets/passed_listeners"
require_relative "../start_error"

module Bontebok
  # The supervisor's part of the start of an executed master. The supervisor executes its own start command again, so
  # the new process reads the gems, the configuration and the application as they are now. The two processes then
  # exchange these messages (see Successor for the master's part):
  #
  #   1. The master sends its version, and the part of its configuration that the supervisor uses.
  #   2. The supervisor binds the addresses that are new in this configuration, opens its log files, and sends all
  #      descriptors that a master needs. If this fails, the supervisor sends the error, and the master ends.
  #
  # When all workers of the master are ready, the new configuration takes effect in the supervisor.
  class Deploy
    # The version of the messages. A master with another version ends.
    PROTOCOL = 1

    # The SupervisorConfig and the Listeners of the new master; nil before #answer.
    attr_reader :config, :listeners

    # generation: the number of the master. former, former_listeners: the supervisor's present Config and Listeners.
    # handshake: the supervisor's end of the Handshake.
    def initialize(generation, former, former_listeners, handshake)
      @generation = generation
      @former = former
      @former_listeners = former_listeners
      @handshake = handshake
    end

    # Readable when the master has sent its message, or has ended.
    def to_io
      @handshake.to_io
    end

    def answered?
      @handshake.to_io.closed?
    end

    # workers: the number of workers if the configuration has the same number as before. Returns nothing; an error is
    # sent to the master, which logs it and ends.
    def answer(workers:, life_line:)
      message, = @handshake.hear
      return unless message

      read(message)
      @listeners = @former_listeners.next(@config)
      @listeners.bind
      send_descriptors(life_line, generation: @generation, workers: count(workers))
    rescue StartError, KeyError, TypeError, ArgumentError, SystemCallError => e
      refuse(e)
    ensure
      @handshake.close
    end

    # The number of workers. present: the present number, which signals may have changed.
    def count(present)
      @config.workers == @former.workers ? present : @config.workers
    end

    # Closes the handshake. Called in a forked process.
    def close
      @handshake.close unless answered?
    end

    # Called when the master has ended, or will end.
    def discard
      close
      @listeners&.discard
    end

    private

    def read(message)
      unless message["protocol"] == PROTOCOL
        raise StartError, "bontebok #{message['version']} cannot be deployed: restart the server"
      end

      @config = SupervisorConfig.new(message.fetch("config"), @former)
      raise StartError, "MaxWorkers 0 needs a restart of the server" if @config.workers.zero?
    end

    # The supervisor keeps its own descriptors.
    def send_descriptors(life_line, **numbers)
      logs = LogFiles.files(@config)
      links = @listeners.worker_links.descriptors
      @handshake.say(
        { protocol: PROTOCOL, **numbers, logs: logs.map(&:first), life_line: !life_line.nil?,
          listeners: PassedListeners.describe(@listeners) },
        [*logs.map(&:last), *links, life_line&.to_io, *@listeners.map(&:socket)].compact
      )
    ensure
      logs&.each { |log| log.last.close }
    end

    def refuse(error)
      @listeners&.discard
      @handshake.say({ protocol: PROTOCOL, error: error.message })
    rescue SystemCallError
      nil # the master has ended
    end
  end
end
