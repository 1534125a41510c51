# frozen_string_literal: true

require "bontebok/bontebok"
require_relative "../system/main_thread"
require_relative "detached_connections"
require_relative "out_of_band"
require_relative "rack_env"
require_relative "request_limits"

module Bontebok
  # The core's worker of this process, and its lanes. A lane is the core's struct for one thread that serves requests.
  # Worker or SingleProcess creates this object after the last fork. The threads push these events to the main thread:
  #
  #   :lanes_ended    all lanes have ended
  #   :max_requests   the lanes have served request_limit requests
  #   :busy           the first request since #rest was true
  #   :leave          the application asks this process to end, or has damaged it; the lanes still serve
  class Lanes
    # The number of requests after which :max_requests is pushed; 0: never.
    attr_reader :request_limit

    # The RequestLimits and the DetachedConnections, for the main thread.
    attr_reader :request_limits, :detached

    # worker: the Hooks::Worker for hooks. turns: OutOfBandTurns, if there are other workers. channel: the core uses it
    # to report requests that take too long, even while a thread keeps Ruby's lock.
    def initialize(config, listeners, app, worker:, log:, events:, turns: nil, channel: nil)
      @request_limit = config.request_limit
      @out_of_band = OutOfBand.new(config, worker, log: log, turns: turns)
      @listeners = listeners
      @log = log
      @hooks = config.hooks
      @events = events
      @lock = Mutex.new
      @core = Core::Worker.new(config.core_settings)
      @detached = DetachedConnections.new(config.seconds(:hijack_timeout), core: @core, log: log)
      listeners.worker_links.connect(@core)
      @core.tell(*channel.dictate(:hung, :stuck, :emptied, :leave)) if channel
      @core.start_io_thread
      listen
      @lanes = Array.new(config[:threads]) { make_lane(config, app) }
      @request_limits = RequestLimits.new(@core, @lanes, log: log)
    end

    # Raises ThreadError if not all threads can be created. After this error, no lane has accepted a connection.
    def start
      # Ruby runs exit handlers in reverse order, and then kills the threads. So this handler runs before the
      # application's handlers, which may kill threads as well.
      at_exit { @exiting = true }
      @core.out_of_band_after(@out_of_band.begin)
      @left = @lanes.size
      @threads = []
      @lock.synchronize { @lanes.each { |lane| @threads << thread(lane) } }
    rescue ThreadError
      @threads.each(&:join)
      raise
    end

    # Begins the graceful end. Connections in the listeners' queues are still accepted. :lanes_ended follows.
    def drain
      @listeners.close
      @detached.drain
      @core.drain
    end

    # Like #drain, but leaves the connections in the listeners' queues to other workers.
    def retire
      @listeners.close
      @detached.drain
      @core.retire
    end

    # Opens the access log again by its name. May be called in any thread, also after #drain or #retire.
    def reopen_logs
      @core.reopen_logs
    rescue SystemCallError => e
      @log.error("the access log cannot be opened again", e)
    end

    # True if :leave was pushed for another reason than a successful exit of the application.
    def failed? = @failed

    # Called with an exception that would end the process. A thread of the application has raised it (see MainThread).
    def interrupted(exception)
      return leave(exception) if exception.is_a?(SystemExit)
      return fail_with("SIG#{Signal.signame(exception.signo)} ends this process") if exception.is_a?(SignalException)

      fail_with("a thread of the application ends this process", exception)
    end

    def requests = @core.requests

    # Shows on the scoreboard that the main thread runs.
    def beat
      @core.beat
      @detached.show
    end

    # True if the lanes have no request, and have had no request since the last call.
    def rest = @core.rest

    def join = @threads.each(&:join)

    private

    def listen
      @listeners.each { |listener| @core.listen(listener.descriptor, listener.server_name, listener.server_port) }
    end

    def make_lane(config, app)
      lane = nil
      env = RackEnv.fixed(config).merge(RackEnv.callables { lane }, RequestLimits.env(config) { lane })
      lane = Core::Lane.new(@core, app, env: env, **lane_options(config))
    end

    def lane_options(config)
      { frozen_env: config[:frozen_env], show_errors: config.development?, max_requests: @request_limit,
        report: method(:report), on_error: (method(:ask_hooks) if @hooks.any?(:on_error)) }
    end

    # successor: the thread replaces a thread that a hook may have killed, so it runs no hooks.
    def thread(lane, successor: false)
      Thread.new do
        Thread.current.name = "bontebok #{@lanes.index(lane) + 1}"
        MainThread.unguard { serve(lane, successor) } if @lock.synchronize { @threads.size == @lanes.size }
      end
    end

    # Returns when the lane has drained.
    def serve(lane, successor)
      @hooks.attempt(:before_thread_start, log: @log) unless successor
      lane.serve
      @hooks.attempt(:before_thread_exit, log: @log) unless successor
      ended = true
    rescue Exception => e # rubocop:disable Lint/RescueException
      ended = true
      fail_with("a serving thread failed", e)
    ensure
      ended || @exiting ? note_end : serve_on(lane)
    end

    def note_end
      @lock.synchronize { @events.push(:lanes_ended) if (@left -= 1).zero? }
    end

    # The application has killed this thread, and its request is lost. A new thread serves the lane's other connections.
    # The process must end, because the killed thread may have left other work unfinished.
    def serve_on(lane)
      @lock.synchronize { @threads[@threads.index(Thread.current)] = thread(lane, successor: true) }
      fail_with("a serving thread was killed: a new thread takes its place, and this process ends")
    rescue ThreadError => e
      fail_with("a serving thread was killed, and no new thread could be started", e)
      note_end
    end

    def fail_with(message, exception = nil)
      @failed = true
      @events.push(:leave)
      @log.error(message, exception)
    end

    def report(level, message, exception)
      case level
      when :out_of_band then guard("the out-of-band work") { go_out_of_band }
      when :max_requests, :busy then @events.push(level)
      when :leave then leave(exception)
      when :detached then @detached.add(exception)
      else @log.write(level, message, exception)
      end
    end

    # env is nil outside of a request.
    def ask_hooks(exception, env)
      guard("the hook on_error") { @hooks.attempt(:on_error, exception, env || {}, log: @log) }
    end

    # If this run raises, the next run comes after OutOfBand::SOON requests.
    def go_out_of_band
      requests = OutOfBand::SOON
      requests = @out_of_band.run
    ensure
      @core.out_of_band_after(requests)
    end

    # The class Hooks raises these exceptions unchanged. They end the process, as if the application had raised them.
    def guard(what)
      yield
    rescue SignalException, NoMemoryError => e
      fail_with("#{what} ends this process", e)
      nil
    end

    def leave(reason)
      @failed = true unless reason.is_a?(SystemExit) && reason.success?
      @events.push(:leave)
      @log.warn("the application ends this process: #{reason.class}")
    end
  end
end
