# frozen_string_literal: true

require_relative "../request_timeout"
require_relative "../sockets/shared/totals"

module Bontebok
  # Runs in the main thread, and handles requests that take longer than request_timeout_soft or request_timeout. After
  # request_timeout_soft, it raises Bontebok::RequestTimeout in the request's thread. After request_timeout, it only
  # logs where the application is, because the core itself has sent a response or closed the connection. While all lanes
  # are busy, it also writes the core's events to the log, for example rejected requests.
  class RequestLimits
    # Readable when #tick must be called.
    attr_reader :to_io

    # core: the Core::Worker, which owns the descriptor. lanes: its lanes. soft: there is a request_timeout_soft.
    def initialize(core, lanes, log:, totals:, soft:)
      @core = core
      @lanes = lanes
      @to_io = IO.for_fd(core.alarm, autoclose: false)
      @log = log
      @totals = totals
      @soft = soft
    end

    # The core itself tells the parent to replace the process.
    def tick
      @to_io.read_nonblock(8, exception: false)
      overdue = @core.overdue? # before its event is taken
      write_events
      @lanes.each { |lane| time_out(lane) }
      return unless overdue

      report_overdue
      @core.overdue_is_logged
    end

    private

    def write_events
      while (event = @core.event)
        @log.write(*event)
      end
    end

    def time_out(lane)
      request, backtrace = lane.time_out
      return unless request

      count(1)
      report("request_timeout_soft: #{request} is here", "Bontebok::RequestTimeout is raised", backtrace)
    end

    def count(number) = @totals.count(Totals::SLOW, number)

    # With request_timeout_soft, they are counted already. Other threads may show what a request waits for.
    def report_overdue
      overdue = @lanes.filter_map(&:overdue)
      count(overdue.size) unless @soft
      overdue.each do |request, thread, seconds|
        began = (Time.now - seconds).strftime("%FT%T.%L%:z")
        report("request_timeout: #{request}, which began at #{began}, is here", name_of(thread), thread.backtrace)
      end
      others = Thread.list - [Thread.current, *overdue.map { |_, thread| thread }]
      others.each { |thread| report("request_timeout: another thread is here", name_of(thread), thread.backtrace) }
    end

    def name_of(thread)
      thread.name ? "thread #{thread.name}" : "a thread without a name"
    end

    # The exception carries the backtrace of the thread to the log.
    def report(message, what, backtrace)
      place = RequestTimeout.new(what)
      place.set_backtrace(backtrace || [])
      @log.error(message, place)
    end
  end
end
