# frozen_string_literal: true

require "io/wait"

module Support
  # For a LaneCase: lanes whose requests have little time. For each server, a thread raises the exception, as lib's main
  # thread does. @places gets the place in the code of each late request. @looks gets an element after each look.
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

    # Starts a server whose block serves /slow, and the thread that raises the exception.
    def limited(soft: SOFT, **options, &slow)
      app = ->(env) { env["PATH_INFO"] == "/quick" ? LaneCase::OK : answer_of(slow, env) }
      server = serve(app, settings: { request_timeout_soft: soft }, **options)
      @watches << Thread.new { watch(server) }
      server
    end

    def answer_of(slow, env)
      answer = slow.call(env)
      answer.is_a?(Array) ? answer : LaneCase::OK
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
