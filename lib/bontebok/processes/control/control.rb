# frozen_string_literal: true

require_relative "../../config/option_types"
require_relative "../../sockets/control/control_client"
require_relative "../../sockets/control/control_socket"
require_relative "../../sockets/passed_variable"
require_relative "../../start_error"
require_relative "../../system/clock"
require_relative "../../version"
require_relative "watch_answer"

module Bontebok
  # The control socket of a server: takes the commands that Commands obeys, and answers those about the server itself.
  # Also the servers that ask for the listeners there (Arrivals). Used by Supervisor and SingleProcess.
  class Control
    # Environment variable that a process with `-w 0` sets for the program that it executes in its place
    # (SingleProcess::InPlaceDeploy): the descriptor of a command that waits for this program.
    CLIENT = "BONTEBOK_CLIENT"
    # Seconds until the control socket is tried again. Another server has it, which may be about to end.
    TRY_AGAIN = 2
    private_constant :TRY_AGAIN

    # Takes the client that the former program has left; nil: none. Called before the process forks or loads the
    # application. Raises UsageError.
    def self.inherit(env)
      PassedVariable.read(env, CLIENT, "the descriptor of a command") do |text|
        ControlClient.new(UNIXSocket.for_fd(PassedVariable.descriptor(text)))
      end
    end

    # The block returns what only this kind of server shows of itself. All values are JSON.
    def initialize(effective, commands:, arrivals:, stop:, log:, &status)
      @effective = effective
      @commands = commands
      @arrivals = arrivals
      @stop = stop
      @log = log
      @status = status
      @client = Control.inherit(ENV)
      answer_commands
    end

    # Called when another configuration takes effect.
    def move
      return if config[:control] == path

      close
      open
    end

    # The path of the open socket; nil: none is open.
    def path = @socket&.path

    # The UnixListener of the socket, or nil.
    def listener = @socket&.listener

    # listener: the former program of this process has passed it.
    def take(listener)
      @socket = ControlSocket.new(listener.address.path, uid: config.account.uid, listener: listener)
    end

    def open
      path = config[:control]
      return @due = nil if OptionTypes::ControlPath.unset?(path)

      taken = File.socket?(path)
      @socket = ControlSocket.new(path, uid: config.account.uid, shared: beside_another?)
      @due = nil
      @log.info("takes commands at #{path}")
    rescue StartError, SystemCallError, ArgumentError => e # ArgumentError: the path is too long
      @log.warn("no commands are taken: #{e.message}") unless @due
      @due = (Clock.now + TRY_AGAIN if taken || File.socket?(path))
    end

    def close
      @socket&.close
      @socket = @due = nil
    end

    # Returns the client. It belongs to the caller from now on.
    def release(client) = @socket.release(client)

    # Called when the server serves.
    def finish_deploy
      @client&.finish(0, "the new code serves")
    end

    # True if this server may start while another one serves. Then it takes over the control socket when it is ready.
    def beside_another?
      config[:reuse_port] || listeners.start_server
    end

    # A forked process closes these.
    def descriptors = [*@socket, *@arrivals.sources, *@client]

    def connect(events)
      events.at(self)
      events.watch(self)
      events.hear { hear }
    end

    def sources = [*@socket&.sources, *@arrivals.sources]

    # The time of the next turn of the Loop; nil: any time.
    def deadline = [@socket&.deadline, @due].compact.min

    def tick
      open if @due && Clock.now >= @due
    end

    private

    def config = @effective.config

    def listeners = @effective.listeners

    def hear
      @socket&.take { |request, client| @commands.obey(request, client) }
      @arrivals.hear { [*listeners, *listener] }
    end

    def answer_commands
      @commands.answer("status") do |_, client|
        client.finish(0, server: { **server, processes: listeners.worker_links.processes })
      end
      @commands.answer("watch") { |_, client| WatchAnswer.new(server, config, listeners.worker_links).give(client) }
      @commands.answer("listeners") { |_, client| give_listeners(client) }
    end

    def server
      { version: VERSION, ruby: RUBY_VERSION, pid: Process.pid, listeners: listeners.map(&:to_s), **@status.call }
    end

    def give_listeners(client)
      return client.finish(1, Stop::TEXT) unless @stop.waits_for_others?
      return client.finish(1, "nothing is shared (reuse_port)") unless beside_another? && listeners.listening?

      @arrivals.add(release(client), listeners)
    end
  end
end
