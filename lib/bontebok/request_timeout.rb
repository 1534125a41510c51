# frozen_string_literal: true

module Bontebok
  # A request that the application does not finish within RequestTimeout, as a worker's main thread hears of it: the
  # core has answered the client by now, or cut it off. What is left is to say where the application is.
  class RequestTimeout
    # Carries the backtrace of a thread to the log.
    class Exceeded < StandardError
    end

    # Readable when there is something to #report.
    attr_reader :to_io

    # core: the Core::Worker, which keeps the descriptor.
    def initialize(core, log:)
      @core = core
      @to_io = IO.for_fd(core.alarm, autoclose: false)
      @log = log
    end

    # Returns why the process should end.
    def report
      @to_io.read_nonblock(8, exception: false)
      while (news = @core.news)
        @log.write(*news)
      end
      (Thread.list - [Thread.current]).each { |thread| report_place(thread) }
      "a request has taken longer than RequestTimeout"
    end

    private

    # Which of them has the request the core cannot tell.
    def report_place(thread)
      place = Exceeded.new(thread.name || "a thread without a name")
      place.set_backtrace(thread.backtrace || [])
      @log.error("RequestTimeout: a thread is here", place)
    end
  end
end
