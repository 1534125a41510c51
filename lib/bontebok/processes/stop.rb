# frozen_string_literal: true

require_relative "../sockets/departure"
require_relative "../sockets/passed_variable"
require_relative "../system/clock"

module Bontebok
  # The way of a server to its end. Used by Supervisor and SingleProcess, whose Loop calls #tick.
  #
  #   serves --#begin--> drain_delay --> #leave: the addresses are left to other servers (Departure) --> #end
  #
  # In all of these states but the last, the workers serve, signals are handled as usual, and workers that end are
  # replaced. During drain_delay, clients and load balancers see that the server will stop. Also the command `drain`,
  # which only shows this.
  class Stop
    TEXT = "the server stops"
    # Environment variable that a process with `-w 0` sets for the program that it executes in its place: the command
    # `drain` was given.
    DRAINS = "BONTEBOK_DRAINS"

    # Returns whether the former program had the command `drain`. Raises UsageError.
    def self.drains?(env)
      PassedVariable.read(env, DRAINS, "1") { |text| text == "1" || raise(ArgumentError) } || false
    end

    # How the workers were told to end; nil: they were not. #end also tells the clients.
    attr_accessor :how

    # arrivals: the Arrivals. service: the ServiceReport. drains: the result of .drains?. announce: called like
    # #announce; the workers of some masters do not see the scoreboard. The block stops the workers, and calls #end; it
    # gets :drain or :retire.
    def initialize(effective, commands:, arrivals:, service:, log:, drains: false, announce: proc {}, &stop)
      @effective = effective
      @arrivals = arrivals
      @service = service
      @log = log
      @drains = drains
      @announce = announce
      @stop = stop
      @signaled = false
      commands.answer("stop") { |request, client| obey_stop(request, client, commands) }
      commands.answer("drain", "resume") { |request, client| obey_drain(request["command"] == "drain", client) }
    end

    # True if the server was told to stop.
    def begun? = ends? || leaves? || @signaled

    # True if the addresses are left, or were left.
    def leaves? = !@departure.nil?

    # True if the workers were told to end.
    def ends? = !@how.nil?

    # False if the server would not wait for another server that starts now. During drain_delay it would.
    def waits_for_others?
      !ends? && (@departure.nil? || !listeners.start_server.nil?)
    end

    # True if the server ends because the application has left it in an unknown state.
    def failed? = @failed

    # True if the command `drain` was given.
    def drains? = @drains

    # True if clients and load balancers see that the server will stop.
    def announced? = @drains || @signaled

    # Shows clients and load balancers that the server will stop (true), or shows it no longer (false).
    def announce(drains = @drains)
      listeners.worker_links.draining = drains
      @announce.call(drains)
    end

    # Called with each signal for a graceful stop. A second signal ends drain_delay. ready: false: the server does not
    # serve yet, and stops at once.
    def begin(ready:)
      return if ends?
      return end_delay if @signaled || !ready

      @signaled = true
      seconds = @effective.config.seconds(:drain_delay)
      return end_delay if seconds.zero?

      announce(true)
      @delayed_until = Clock.now + seconds
      @log.info("draining: stops in #{seconds} s")
    end

    # Leaves out drain_delay, because the developer may start the next server in another terminal.
    def skip_delay(reason)
      return if ends? || leaves?

      @log.info(reason)
      @signaled = true
      end_delay
    end

    # Begins to leave the addresses to other servers (reuse_port, start_server). failed: see #failed?. The service
    # manager learns it before #tick asks whether it has released the listeners.
    def leave(failed: false)
      return if ends?
      return @departure.insist if @departure

      @failed = failed
      @departure = Departure.new(listeners, newcomers: @arrivals.method(:starting?), log: @log,
                                            patience: @effective.config.seconds(:worker_boot_timeout))
      @service.tick
    end

    def tick
      end_delay if @delayed_until && Clock.now >= @delayed_until
      @stop.call(@departure.how) if leaving? && @service.released? && @departure.over?
    end

    # The time of the next #tick; nil: it need not be called.
    def deadline = [@delayed_until, (@departure.deadline if leaving?)].compact.min

    # Called when the workers are told to end. If another server continues, it gets the idle connections. Otherwise
    # their clients are told to close them.
    def end(how)
      if @arrivals.leave(*listeners.other)
        @log.info("another server gets the idle connections")
        listeners.worker_links.hand_over
      else
        announce(true)
      end
      @how = how
    end

    private

    def listeners = @effective.listeners

    def leaving? = leaves? && !ends?

    def end_delay
      @delayed_until = nil
      leave
    end

    def obey_stop(request, client, commands)
      request["wait"] ? client.say(TEXT) : client.finish(0, TEXT)
      commands.give(request["now"] ? "INT" : "TERM")
    end

    def obey_drain(drains, client)
      return client.finish(1, TEXT) if begun?

      announce(@drains = drains)
      client.finish(0, drains ? "load balancers are told to choose other servers" : "the server takes new clients")
    end
  end
end
