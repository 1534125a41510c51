# frozen_string_literal: true

require "bontebok/bontebok"
require_relative "detached_connections"
require_relative "out_of_band"
require_relative "own_process"
require_relative "rack_env"
require_relative "request_limits"
require_relative "serving_threads"

module Bontebok
  # The core's worker of this process, and its lanes. A lane is the core's struct for one thread that serves requests.
  # Worker or SingleProcess creates this object after the last fork, ServerRun in the process of another program. The
  # threads push these events to the thread that controls the lanes:
  #
  #   :lanes_ended    all lanes have ended; pushed again if the hook before_worker_drain ends later
  #   :max_requests   the lanes have served request_limit requests
  #   :busy           the first request since #rest was true
  #   :leave          the application asks this process to end, or has damaged it (OwnProcess); the lanes still serve
  class Lanes
    # The number of requests after which :max_requests is pushed; 0: never.
    attr_reader :request_limit

    # The RequestLimits, the DetachedConnections, and the OwnProcess or CallersProcess.
    attr_reader :request_limits, :detached, :process

    # worker: the Hooks::Worker for hooks. generation: of its master. turns: OutOfBandTurns, if there are other workers.
    # channel: the core uses it to report requests that take too long, even while a thread keeps Ruby's lock.
    def initialize(config, listeners, release, worker:, log:, events:, process: OwnProcess.new(events, log: log),
                   generation: 1, turns: nil, channel: nil)
      @process = process
      @request_limit = config.request_limit
      @out_of_band = OutOfBand.new(config, worker, log: log, turns: turns)
      @listeners = listeners
      @log = log
      @hooks = config.hooks
      @events = events
      @core = Core::Worker.new(config.core_settings)
      @detached = DetachedConnections.new(config.seconds(:hijack_timeout), @hooks, worker, core: @core, log: log)
      connect(channel, release, number: worker.number, generation: generation)
      @lanes = Array.new(config[:threads]) { make_lane(config, release.app) }
      @threads = ServingThreads.new(@lanes, hooks: @hooks, process: process, log: log) { events.push(:lanes_ended) }
      @request_limits = limits_of_requests(config)
      @collections = collections
    end

    # Yields when all threads exist, before they serve. Raises ThreadError if not all threads can be created. After this
    # error, or an exception of the block, no lane has accepted a connection.
    def start(&)
      @process.watch_exit
      @core.out_of_band_after(@out_of_band.begin)
      @threads.start(&)
    end

    # Begins the graceful end. Connections in the listeners' queues are still accepted. :lanes_ended follows.
    def drain
      begin_end
      @core.drain
    end

    # Like #drain, but leaves the connections in the listeners' queues to other workers.
    def retire
      begin_end
      @core.retire
    end

    # Kills the threads, after #drain. See ServingThreads.
    def cut = @threads.cut

    # True if a thread is left.
    def alive? = @threads.alive?

    # True if this thread serves a lane.
    def thread?(thread) = @threads.include?(thread)

    # Opens the access log again by its name. May be called in any thread, also after #drain or #retire.
    def reopen_logs
      @core.reopen_logs
    rescue SystemCallError => e
      @log.error("the access log cannot be opened again", e)
    end

    def requests = @core.requests

    # Shows on the scoreboard that the main thread runs. Counts the garbage collections.
    def beat
      @core.beat
      count_gc
      @detached.show
    end

    # Adds the garbage collections since the last call or #beat to the totals.
    def count_gc
      former = @collections
      @collections = collections
      return if @collections == former

      @core.count_gc(*@collections.zip(former).map { |now, before| [now - before, 0].max })
    end

    # True if the lanes have no request, and have had no request since the last call.
    def rest = @core.rest

    def join
      @threads.join
      count_gc
    end

    # Called after #join. Resets streams, but hijacked sockets belong to the application. Frees the core's memory.
    def close
      @detached.abort_streams
      [*@lanes, @core].each(&:close)
    end

    private

    # The number of garbage collections of this process, and their time in microseconds.
    def collections = [GC.count, GC.total_time / 1000]

    def begin_end
      @listeners.close
      @detached.drain { @threads.note_end(0) }
    end

    def connect(channel, release, **numbers)
      @listeners.worker_links.connect(@core, **numbers)
      @core.public(release.public) if release.public
      @core.tell(*channel.dictate(:hung, :stuck, :emptied, :leave)) if channel
      @core.start_io_thread
      @listeners.each { |listener| @core.listen(listener.descriptor, listener.server_name, listener.server_port) }
    end

    def limits_of_requests(config)
      RequestLimits.new(@core, @lanes, log: @log, totals: @listeners.worker_links.totals,
                                       soft: config[:request_timeout_soft].positive?)
    end

    def make_lane(config, app)
      lane = nil
      env = RackEnv.of_lane(config) { lane }
      on_error = method(:ask_hooks) if @hooks.any?(:on_error)
      lane = Core::Lane.new(@core, app,
                            env: env, frozen_env: config[:frozen_env], asterisk: RackEnv.asterisk?,
                            show_errors: config.development?, max_requests: @request_limit,
                            report: method(:report), on_error: on_error)
    end

    def report(level, message, exception)
      case level
      when :out_of_band then guard("the out-of-band work") { @out_of_band.run_in(@core) }
      when :max_requests, :busy then @events.push(level)
      when :leave then @process.asked_to_end(exception)
      when :detached then @detached.add(exception)
      else @log.write(level, message, exception)
      end
    end

    # env is nil outside of a request.
    def ask_hooks(exception, env)
      guard("the hook on_error") { @hooks.attempt(:on_error, exception, env || {}, log: @log) }
    end

    # The class Hooks raises these exceptions unchanged. They end the process, as if the application had raised them.
    def guard(what)
      yield
    rescue SignalException, NoMemoryError => e
      @process.damaged("#{what} ends this process", e)
      nil
    end
  end
end
