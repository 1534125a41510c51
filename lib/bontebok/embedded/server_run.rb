# frozen_string_literal: true

require_relative "../config/hooks"
require_relative "../sockets/listeners"
require_relative "../start_error"
require_relative "../system/clock"
require_relative "../system/event_queue"
require_relative "../workers/lanes"
require_relative "../workers/release"
require_relative "../workers/stats/this_server"
require_relative "callers_process"

module Bontebok
  # One run of a Server, from its start to its end. The lanes (see Lanes) have threads. One more thread, the keeper,
  # handles their events. So #stop may be called in any thread and in a signal handler.
  #
  # In a process that the program forks, the run has no threads: all methods do nothing there.
  class ServerRun
    # Seconds between two attempts to end requests that were not finished in time. An attempt kills the threads; the
    # next requests of their connections may take long again.
    CUT_INTERVAL = 0.25
    # Seconds that #stop waits after the first attempt. A thread cannot be killed while a C extension keeps it.
    CUT_SECONDS = 1
    # Seconds between two looks at the streams that have outlived the threads.
    STREAM_INTERVAL = 0.05
    # The limit of select is about 68 years.
    LONGEST_STEP = 3600

    def initialize(config, app, log)
      @config = config
      @app = app
      @log = log
      @events = EventQueue.new
      @finished = true
      @process = Process.pid
    end

    # Returns when clients can connect and the threads serve. Raises StartError, ThreadError, SystemCallError. After any
    # exception the run has ended.
    def start
      check
      open_listeners
      start_lanes
      started = true
    ensure
      give_up unless started
    end

    # The addresses as texts: HOST:PORT or unix:/path.
    def addresses = @addresses.to_a.dup

    # True until the end of the run.
    def alive?
      @process == Process.pid && (@keeper ? @keeper.alive? : !@events.to_io.closed?)
    end

    # True from the first call of #stop on.
    def stopping? = @stopping

    # Tells the run to end within `seconds`, and waits for the end. Returns true if every request and stream was
    # finished, false if not. Returns nil if the caller is a request of this server, which would wait for itself, or if
    # #start still runs, perhaps in the caller's thread.
    def stop(seconds)
      return @finished unless alive?

      deadline = Clock.now + seconds
      @stopping = true
      @events.push(deadline)
      return if @keeper.nil? || @lanes&.thread?(Thread.current)

      ended?(seconds + CUT_SECONDS) && @finished
    end

    # Waits for the end of the run, at most `seconds`; nil: no limit. Returns whether the run has ended.
    def ended?(seconds)
      @keeper.nil? || !@keeper.join(seconds).nil?
    end

    # In a forked process, closes the descriptors that this process has inherited.
    def disown
      return if @process == Process.pid

      @listeners&.disown
      @events.close
    end

    private

    def give_up = @keeper ? stop(@config.seconds(:graceful_timeout)) : close

    # Raises StartError.
    def check
      @release = Release.around(@app, @config)
      @config.warnings.each { |warning| @log.warn(warning) }
    end

    def open_listeners
      @listeners = Listeners.of(@config, log: @log)
      @listeners.bind
      @listeners.listen
      @addresses = @listeners.map { |listener| listener.to_s.freeze }
    end

    def start_lanes
      @shown = ThisServer.embed(links: @listeners.worker_links, config: @config, mode: "single", pid: @process,
                                generation: 1, began: Time.now.to_f)
      @lanes = Lanes.new(@config, @listeners, @release, log: @log, events: @events, process: CallersProcess.new(@log),
                                                        worker: Hooks::Worker.new(1, @process))
      # The keeper copies the delay of interrupts, so that the application cannot end it.
      Thread.handle_interrupt(Object => :never) { @lanes.start { @keeper = Thread.new { keep } } }
      @addresses.each { |address| @log.info("listening on #{address}") }
    end

    # The keeper's loop. Ends when all lanes have ended, and all streams. If the program exits, Ruby kills the threads
    # of the lanes, and so they end.
    def keep
      Thread.current.name = "bontebok"
      wait_for_events until @lanes_ended
      @lanes.join
      wait_for_streams
    rescue Exception => e # rubocop:disable Lint/RescueException
      @log.error("the server ends: its thread has failed", e)
      @finished = false
      @lanes.drain
      @lanes.join
    ensure
      @lanes.close
      @lanes = nil
      close
    end

    def wait_for_events
      ready, = IO.select([@events, @lanes.request_limits], nil, nil, step)
      return (cut if late?) unless ready

      @lanes.request_limits.tick if ready.include?(@lanes.request_limits)
      @events.take.each { |event| handle(event) }
    end

    # Seconds that the keeper may wait; nil: no limit.
    def step
      @lanes_ended ? STREAM_INTERVAL : @deadline && (@deadline - Clock.now).clamp(0, LONGEST_STEP)
    end

    # If the lanes end without a drain, because the program exits, there is no time for streams.
    def late?
      @deadline.nil? || @deadline <= Clock.now || @lanes.process.exits?
    end

    # Streams that have outlived their requests may go on until the deadline.
    def wait_for_streams
      wait_for_events until @lanes.detached.streams.zero? || late?
      return if (count = @lanes.detached.streams).zero?

      @log.error("streams were not finished in time: #{count}")
      @finished = false
    end

    # event: an event of the lanes, or the time by which the run must end.
    def handle(event)
      case event
      when :lanes_ended then @lanes_ended = true
      when Numeric then drain(event)
      end
    end

    def drain(deadline)
      began = @deadline
      @deadline = [deadline, *@deadline].min
      return if began

      @log.info("stopping")
      @listeners.end_for_all { @lanes.drain }
    end

    # The time is over: ends the requests that still run.
    def cut
      return @lanes_ended = true unless @lanes.alive?

      @log.error("requests were not finished in time") if @finished
      @finished = false
      @deadline = Clock.now + CUT_INTERVAL
      @lanes.cut
    end

    # Also called after a failed start. Releases the lanes, so that the garbage collector frees what the keeper has not
    # closed.
    def close
      ThisServer.remove(@shown)
      @listeners&.end_for_all do
        @lanes&.drain
        [@listeners, *@listeners.worker_links].each(&:close)
      end
      @release&.public&.close
    ensure
      @events.close
      @lanes = @listeners = nil
    end
  end
end
