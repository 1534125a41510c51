# frozen_string_literal: true

require "io/wait"

module Support
  # A LaneCase includes this module to start servers with a short request_timeout_soft. For each server, one thread
  # calls Lane#time_out, as the main thread of a real worker does. Lane#time_out raises RequestTimeout in the thread of
  # a late request. @places gets the result of Lane#time_out for each late request: the request's label and the
  # backtrace. After the thread has called Lane#time_out of all lanes, it adds an element to @looks.
  module LimitedLanes
    # ms. A quick request takes less, even on a slow machine.
    SOFT = LaneCase::VALGRIND ? 3000 : 500

    def setup
      super
      @places = Queue.new
      @looks = Queue.new
      @watches = []
    end

    def teardown
      @watches.each(&:kill).each(&:join)
      super
    end

    private

    # Starts a server, and the thread that calls Lane#time_out. The block serves all requests except /quick.
    def limited(soft: SOFT, **options, &slow)
      app = ->(env) { env["PATH_INFO"] == "/quick" ? LaneCase::OK : response_of(slow, env) }
      server = serve(app, settings: { request_timeout_soft: soft }, **options)
      @watches << Thread.new { watch(server) }
      server
    end

    def response_of(slow, env)
      response = slow.call(env)
      response.is_a?(Array) ? response : LaneCase::OK
    end

    def watch(server)
      alarm = IO.for_fd(server.worker.alarm, autoclose: false)
      loop do
        alarm.wait_readable
        alarm.read_nonblock(8, exception: false)
        server.lanes.filter_map(&:time_out).each { |place| @places << place }
        @looks << true
      end
    end
  end
end
