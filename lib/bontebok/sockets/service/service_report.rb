# frozen_string_literal: true

require "io/wait"

require_relative "listener_store"
require_relative "service_manager"
require_relative "../../system/clock"

module Bontebok
  # Tells the service manager the state of the server. Used by Supervisor and SingleProcess, whose loops call #tick. The
  # report finds out what has changed, and repeats a message that could not be sent.
  #
  #   :starting --> :serving <--> :reloading
  #       any of them --> :stopping
  class ServiceReport
    # In all states but :serving, systemd has a time limit. The server prolongs it by these seconds.
    EXTENSION = 15
    INTERVAL = 5
    # Seconds until a message is repeated.
    RETRY = 0.1
    # Seconds that the service manager gets to drop the listeners from its store, and then to close them: systemd closes
    # them in a thread. The interval of the checks.
    PATIENCE = 1
    GRACE = 0.05
    CHECK = 0.01

    def initialize(manager, store)
      @manager = manager
      @store = store
      @watchdog = manager.watchdog
      @due = {}
    end

    # Called before #tick. effective: has the configuration and the listeners in effect. alive: returns whether the
    # server is alive. The block returns the present state, and the state in words.
    def connect(effective, alive: proc { true }, &present)
      @effective = effective
      @alive = alive
      @present = present
    end

    def wanted? = @manager.present?

    # See ServiceManager#variables.
    def variables = @manager.variables

    # Called when code, workers or log files are to be replaced. With Type=notify-reload, systemd sends a signal, and
    # waits for a later RELOADING=1 and then for READY=1, even if a reload is in progress already, or nothing has to be
    # replaced. systemd sends no such signal while the server starts or stops.
    def reload
      @reload = %i[serving reloading].include?(@told)
    end

    def tick
      return unless wanted?

      state, status = @present.call
      config, listeners = *@effective
      # Before READY is told: from then on, the listeners survive the death of the server.
      @store.keep(listeners) if state != :stopping && listeners.listening?
      tell(state, status)
      late = late?(config.boot_seconds)
      every(:extension, INTERVAL) { @manager.tell(EXTEND_TIMEOUT_USEC: EXTENSION * 1_000_000) unless late } if waited?
      watch(late) if @watchdog
      release if state == :stopping && listeners.listening?
    end

    # False while the service manager still has copies of the listeners. If the workers closed their copies first, the
    # connections that come in between would be reset.
    def released?
      return true unless @patience

      pass_barrier if @barrier&.wait_readable(0)
      @patience <= Clock.now
    end

    # The time of the next #tick; nil: any time.
    def deadline
      return unless wanted?
      return Clock.now + CHECK unless released?
      return Clock.now + RETRY if @unsent

      [(@due[:extension] if waited?), @due[:watchdog]].compact.min
    end

    # Seconds until #deadline, for a thread that has no Loop; nil: no limit.
    def step
      deadline&.then { |time| [time - Clock.now, 0].max }
    end

    private

    def tell(state, status)
      enter(state) if state != @state
      begin_reload if @reload
      changed = state == @told ? {} : message(state)
      changed[:STATUS] = status if status != @status
      @unsent = @reload || (changed.any? && !@manager.tell(**changed))
      return if @unsent

      @told = state
      @status = status
    end

    def begin_reload
      return unless @manager.tell(**message(:reloading))

      @reload = false
      @told = :reloading
    end

    def enter(state)
      @state = state
      @since = Clock.now
      @due.delete(:extension)
    end

    def release
      return if @patience

      @patience = Clock.now + PATIENCE
      @store.keep([])
      @barrier = @manager.barrier
    end

    def pass_barrier
      @barrier.close
      @barrier = nil
      @patience = Clock.now + GRACE
    end

    def message(state)
      case state
      when :serving then { READY: 1 }
      when :reloading
        { RELOADING: 1, MONOTONIC_USEC: Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond) }
      when :stopping then { STOPPING: 1 }
      else {}
      end
    end

    # True if the start takes longer than worker_boot_timeout. A deploy or a stop has limits of its own.
    def late?(seconds)
      @state == :starting && seconds.positive? && Clock.now - @since > seconds
    end

    # True if the service manager waits for the next state.
    def waited? = @state != :serving

    def watch(late)
      every(:watchdog, @watchdog / 2) do
        alive = %i[starting stopping].include?(@state) ? !late : @alive.call
        @manager.tell(WATCHDOG: 1) if alive
      end
    end

    def every(name, seconds)
      return if @due.fetch(name, 0) > Clock.now

      @due[name] = Clock.now + seconds
      yield
    end
  end
end
