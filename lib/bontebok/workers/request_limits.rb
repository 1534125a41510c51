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

    # Readable when there is something to #tick.
    attr_reader :to_io

    # core: the Core::Worker, which keeps the descriptor. lanes: its lanes.
    def initialize(core, lanes, log:)
      @core = core
      @lanes = lanes
      @to_io = IO.for_fd(core.alarm, autoclose: false)
      @log = log
    end

    # The core tells the parent, which has the process replaced.
    def tick
      @to_io.read_nonblock(8, exception: false)
      @lanes.each { |lane| time_out(lane) }
      return unless @core.overdue?

      while (news = @core.event)
        @log.write(*news)
      end
      report_overdue
      @core.overdue_is_logged
    end

    private

    def time_out(lane)
      request, backtrace = lane.time_out
      report("RequestTimeoutSoft: #{request} is here", "RequestTimeout is raised", backtrace) if request
    end

    # The other threads may show what the request waits for.
    def report_overdue
      overdue = @lanes.filter_map(&:overdue)
      overdue.each do |request, thread, seconds|
        began = (Time.now - seconds).strftime("%FT%T.%L%:z")
        report("RequestTimeout: #{request}, which began at #{began}, is here", name_of(thread), thread.backtrace)
      end
      others = Thread.list - [Thread.current, *overdue.map { |_, thread| thread }]
      others.each { |thread| report("RequestTimeout: another thread is here", name_of(thread), thread.backtrace) }
    end

    def name_of(thread)
      thread.name ? "thread #{thread.name}" : "a thread without a name"
    end

    def report(message, what, backtrace)
      place = Exceeded.new(what)
      place.set_backtrace(backtrace || [])
      @log.error(message, place)
    end
  end
end
