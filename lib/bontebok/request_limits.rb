# frozen_string_literal: true

module Bontebok
  # Requests that take longer than RequestTimeoutSoft, or than RequestTimeout, as a process's main thread hears of them.
  # At the first limit Bontebok::RequestTimeout is raised in the request's thread. At the second the core has answered
  # the client by now, or cut it off, and what is left is to say where the application is.
  class RequestLimits
    # In the env of a request: call(seconds) gives it more time, both limits are so much later. For the thread that
    # serves the request.
    EXTENSION = "bontebok.extend_timeout"

    # Carries the backtrace of a thread to the log.
    class Exceeded < StandardError
    end

    class << self
      # What is in the env of each request that a lane serves. The block returns the lane.
      def env(config)
        limited = config[:request_timeout].positive? || config[:request_timeout_soft].positive?
        limited ? { EXTENSION => ->(seconds) { yield.extend_timeout(seconds) } } : {}
      end
    end

    # Readable when there is something to #mind.
    attr_reader :to_io

    # core: the Core::Worker, which keeps the descriptor. lanes: its lanes.
    def initialize(core, lanes, log:)
      @core = core
      @lanes = lanes
      @to_io = IO.for_fd(core.alarm, autoclose: false)
      @log = log
    end

    # Returns why the process should end; nil: it need not.
    def mind
      @to_io.read_nonblock(8, exception: false)
      @lanes.each { |lane| time_out(lane) }
      return unless @core.overdue?

      while (news = @core.news)
        @log.write(*news)
      end
      (Thread.list - [Thread.current]).each { |thread| report_place(thread) }
      "a request has taken longer than RequestTimeout"
    end

    private

    def time_out(lane)
      request, backtrace = lane.time_out
      report("RequestTimeoutSoft: #{request} is here", "RequestTimeout is raised", backtrace) if request
    end

    # Which of them has the request the core cannot tell.
    def report_place(thread)
      report("RequestTimeout: a thread is here", thread.name || "a thread without a name", thread.backtrace)
    end

    def report(message, what, backtrace)
      place = Exceeded.new(what)
      place.set_backtrace(backtrace || [])
      @log.error(message, place)
    end
  end
end
