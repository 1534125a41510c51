# frozen_string_literal: true

require_relative "../../sockets/control/control_socket"
require_relative "../../sockets/control/newcomer"
require_relative "../../system/clock"
require_relative "../../sockets/passed_variable"
require_relative "../../version"
require_relative "watch_answer"

module Bontebok
  # Obeys the commands of `bontebok deploy`, `bontebok status` and so on. A command arrives on the control socket (see
  # ControlMessage). Exit statuses: 0 done, 1 failed, 2 wrong request, 3 busy with another deploy. Supervisor and
  # SingleProcess include this module. They have #obey_command, #stops?, #ends? and #server_status.
  module Control
    BUSY = 3
    # Environment variables that a process with `-w 0` sets for the program that it executes in its place
    # (InPlaceDeploy): the descriptor of a command that waits for this program, and whether the command `drain` was
    # given.
    CLIENT = "BONTEBOK_CLIENT"
    DRAINS = "BONTEBOK_DRAINS"
    STOPS = "the server stops"
    # Seconds until the control socket is tried again. Another server has it, which may be about to end.
    TRY_AGAIN = 2
    private_constant :STOPS, :TRY_AGAIN

    private

    def open_control
      path = @config[:control]
      return @control_due = nil if OptionTypes::ControlPath.unset?(path)

      taken = File.socket?(path)
      @control = ControlSocket.new(path, uid: @config.account.uid, shared: beside_another?)
      @control_due = nil
      @log.info("takes commands at #{path}")
    rescue StartError, SystemCallError, ArgumentError => e # ArgumentError: the path is too long
      @log.warn("no commands are taken: #{e.message}") unless @control_due
      @control_due = (Clock.now + TRY_AGAIN if taken || File.socket?(path))
    end

    def tick_control
      open_control if @control_due && Clock.now >= @control_due
    end

    # The time at which #tick_control and #take_commands must be called; nil: none.
    def control_deadline
      [@control&.deadline, @control_due].compact.min
    end

    # Seconds until then; nil: no limit.
    def control_step
      control_deadline&.then { |time| [time - Clock.now, 0].max }
    end

    # Takes what the former program has left. Called before the process forks or loads the application. Raises
    # UsageError.
    def inherit_commands
      @drains ||= PassedVariable.read(ENV, DRAINS, "1") { |text| text == "1" || raise(ArgumentError) } || false
      @starting_client = PassedVariable.read(ENV, CLIENT, "the descriptor of a command") do |text|
        ControlClient.new(UNIXSocket.for_fd(PassedVariable.descriptor(text)))
      end
    end

    # Called when the server serves.
    def finish_deploy
      @starting_client&.finish(0, "the new code serves")
    end

    # True if this server may start while another one serves. Then it takes over the control socket when it is ready.
    def beside_another?
      @config[:reuse_port] || @listeners.start_server
    end

    def close_control
      @control&.close
      @control = @control_due = nil
    end

    def take_commands
      @control&.take do |request, client|
        obey_command(request, client)
      rescue ControlMessage::Invalid => e
        client.finish(2, e.message)
      rescue StandardError => e # the process must not end
        @log.error("the command #{request['command']} has failed", e)
        client.finish(1, e.message)
      end
    end

    # The commands that both processes know.
    def obey_common_command(request, client)
      case request["command"]
      when "status" then client.finish(0, server: { **server_status, processes: @listeners.worker_links.processes })
      when "watch" then WatchAnswer.new(server_status, @config, @listeners.worker_links).give(client)
      when "stop" then command_stop(request, client)
      when "drain", "resume" then command_drain(request, client)
      when "listeners" then command_listeners(client)
      else client.finish(2, "unknown command #{request['command'].inspect}")
      end
    end

    # All values are JSON.
    def common_status
      { version: VERSION, ruby: RUBY_VERSION, pid: Process.pid, listeners: @listeners.map(&:to_s) }
    end

    def command_stop(request, client)
      request["wait"] ? client.say(STOPS) : client.finish(0, STOPS)
      handle(request["now"] ? "INT" : "TERM")
    end

    def command_drain(request, client)
      return client.finish(1, STOPS) if stops?

      @drains = request["command"] == "drain"
      announce(@drains)
      client.finish(0, @drains ? "load balancers are told to choose other servers" : "the server takes new clients")
    end

    # Shows clients and load balancers that the server will stop (true), or shows it no longer (false).
    def announce(drains)
      @listeners.worker_links.draining = drains
    end

    # The client is another server (OtherServer), which gets copies of the TCP listeners and of the shared queue.
    def command_listeners(client)
      return client.finish(1, STOPS) unless awaits_newcomers?
      return client.finish(1, "nothing is shared (reuse_port)") unless beside_another? && @listeners.listening?

      @log.info("another server starts beside this one")
      sockets = @listeners.grep(TcpListener).select(&:shared?).map(&:socket)
      queue = @listeners.worker_links.queue
      client.pass([*sockets, *queue], queue: queue.size, addresses: @listeners.map(&:to_s).sort)
      @newcomers = [*@newcomers, Newcomer.new(@control.release(client))]
    end

    # False if the server would not wait for another server that starts now. During drain_delay it would.
    def awaits_newcomers?
      !ends? && (@departure.nil? || !@listeners.start_server.nil?)
    end

    # True while another server starts.
    def newcomers?
      @newcomers&.any?(&:starting?)
    end

    # If another server has ended, its unix sockets are dead. Then the paths lead to this server again.
    def hear_newcomers
      gone = [*@newcomers].each(&:hear).select(&:gone?)
      return if gone.empty?

      gone.each(&:dismiss)
      @newcomers -= gone
      [*@listeners, *@control&.listener].each(&:reclaim)
    rescue SystemCallError => e
      @log.warn("cannot take back the path of a unix socket: #{e.message}")
    end

    # Called when the stop begins. If another server continues, it gets the idle connections. Otherwise their clients
    # are told to close them. If both stop at the same time, at least one of them sees it here, because each tells the
    # other first.
    def announce_end
      others = [*@listeners.other, *@newcomers].each(&:leave)
      if others.any?(&:takes_over?)
        @log.info("another server gets the idle connections")
        @listeners.worker_links.hand_over
      else
        announce(true)
      end
      @newcomers&.each(&:close)&.clear
    end
  end
end
