# frozen_string_literal: true

require "io/wait"

require_relative "app_loader"
require_relative "child"
require_relative "fork_guard"
require_relative "lanes"
require_relative "signal_queue"
require_relative "start_lines"

module Bontebok
  # `-w 0`: supervisor, master and worker in one process that forks nothing and leaves the terminal alone, for a
  # debugger and for platforms on which one process is all there should be.
  class SingleProcess
    SIGNALS = %w[TERM QUIT INT HUP].freeze

    def initialize(config, listeners, log:)
      @config = config
      @listeners = listeners
      @log = log
    end

    # Returns the exit status; raises StartError.
    def run
      Process.setproctitle("bontebok")
      @listeners.bind
      ForkGuard.install { @listeners.disown }
      app = AppLoader.new(@config[:rackup], @log).load
      start(app)
      wait_for_events while @serving
      @lanes.join
      @log.info("stopped")
      0
    rescue AppLoader::Failed => e
      @log.error(e.message, e.cause)
      1
    ensure
      @listeners.unlink
    end

    private

    def start(app)
      @events = SignalQueue.new(*SIGNALS)
      @listeners.listen
      @lanes = Lanes.new(@config, @listeners, app, log: @log, events: @events)
      StartLines.write(@log, @config, @listeners)
      @lanes.start
      @serving = true
    end

    def wait_for_events
      @events.to_io.wait_readable(@deadline && [@deadline - Child.now, 0].max) or return give_up
      @events.take.each { |event| handle(event) }
    end

    # There is nobody who could replace this process: a number of requests does not end it.
    def handle(event)
      case event
      when :lanes_ended then @serving = false
      when "TERM", "QUIT" then drain
      when "INT" then exit(0)
      when "HUP" then @log.info("SIGHUP is ignored")
      end
    end

    def drain
      return if @deadline

      @log.info("stopping")
      @deadline = Child.now + @config.seconds(:graceful_timeout)
      @listeners.unlink
      @lanes.drain
    end

    def give_up
      @log.error("requests were not finished in time")
      exit!(1)
    end
  end
end
