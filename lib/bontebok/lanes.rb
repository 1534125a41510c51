# frozen_string_literal: true

require "bontebok/bontebok"
require_relative "rack_env"

module Bontebok
  # What serves in a process: the core's worker with its listeners, and its lanes, each in a thread. Made after the last
  # fork. What happens in the threads is pushed to the events of the process's main thread:
  #
  #   :lanes_ended    nothing is left to serve
  #   :max_requests   the lanes have served as many requests as they should
  class Lanes
    def initialize(config, listeners, app, log:, events:)
      @listeners = listeners
      @log = log
      @events = events
      @lock = Mutex.new
      @core = Core::Worker.new(config.core_settings)
      listeners.each { |listener| @core.listen(listener.descriptor, listener.server_name, listener.server_port) }
      @lanes = Array.new(config[:threads]) { Core::Lane.new(@core, app, **lane_options(config)) }
    end

    def start
      at_exit { @leaving = true } # Ruby kills the threads after the exit handlers
      @left = @lanes.size
      @threads = @lanes.map { |lane| Thread.new { serve(lane) } }
    end

    # Begins the graceful end; :lanes_ended follows. What is queued at the listeners is still accepted.
    def drain
      @listeners.close
      @core.drain
    end

    # Waits for the threads' end.
    def join
      @threads.each(&:join)
    end

    private

    def lane_options(config)
      { env: RackEnv.fixed(config), frozen_env: config[:frozen_env], show_errors: config.development?,
        max_requests: config.request_limit, report: method(:report) }
    end

    # The application may have asked this process to leave; the binding has begun the graceful end then.
    def serve(lane)
      reason = lane.serve
      ended = true
      @log.warn("the application ends this worker", reason) if reason
    rescue Exception => e # rubocop:disable Lint/RescueException
      ended = true
      @log.error("a lane failed", e)
      drain
    ensure
      leave_killed unless ended || @leaving
      @lock.synchronize { @events.push(:lanes_ended) if (@left -= 1).zero? }
    end

    # By the application: Thread#kill is no exception. What the lane held is lost when the process ends: the others
    # finish, and another worker takes its place.
    def leave_killed
      drain
      @log.error("a lane was killed, this process ends")
    end

    def report(level, message, exception)
      level == :max_requests ? @events.push(:max_requests) : @log.write(level, message, exception)
    end
  end
end
