# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/limited_lanes"

# Tests request_timeout_soft with requests that end at the moment when RequestTimeout is raised.
class TimeOutRacesTest < Support::LaneCase
  include Support::LimitedLanes

  REQUESTS = VALGRIND ? 20 : 300

  # The thread receives the exception only in a blocking call, and the request ends without a blocking call. The next
  # request must not get the exception.
  def test_an_exception_that_comes_too_late_is_dropped
    server = Thread.handle_interrupt(Bontebok::RequestTimeout => :on_blocking) do
      limited { Thread.pass while @places.empty? }
    end

    assert_equal 200, server.get("/slow").status
    assert_equal 200, server.get("/quick").status
  end

  # Ruby may switch threads after the last check of the request and before the exception is raised.
  def test_a_request_may_end_while_the_exception_is_raised
    ending = false
    go_on = Queue.new
    trace = TracePoint.new(:c_call) do |call|
      next unless call.method_id == :raise && @watches.include?(Thread.current)

      ending = true
      go_on.pop
    end
    server = limited { Thread.pass until ending }

    trace.enable

    server.connect do |client|
      client.request("GET", "/slow")
      assert_equal 200, client.read_response.status
      client.request("GET", "/quick")
      assert client.quiet?(0.1) # the lane waits for the thread that raises
      go_on << true
      assert_equal 200, client.read_response.status
    end
  ensure
    trace&.disable
  end

  # The raising thread is killed before it raises. The lane must not wait for this thread.
  def test_a_request_may_end_while_the_thread_that_raises_is_killed
    ended = false
    trace = TracePoint.new(:c_call) do |call|
      next unless call.method_id == :raise && @watches.include?(Thread.current)

      ended = true
      Thread.current.kill
    end
    server = limited { Thread.pass until ended }

    trace.enable

    assert_equal 200, server.get("/slow").status
  ensure
    trace&.disable
  end

  # Each request ends a little before or a little after its timeout.
  def test_no_request_gets_the_exception_of_another_request
    early = []
    server = limited(count: 2, soft: 2) do |env|
      sleep(rand(0.001..0.004))
    rescue Bontebok::RequestTimeout
      took = Support::Deadline.now - Float(env["HTTP_X_SENT"])
      early << took if took < 0.001
      raise
    end
    clients = Array.new(2) do
      Thread.new { Array.new(REQUESTS) { server.get("/slow", "X-Sent" => Support::Deadline.now).status } }
    end

    assert_empty clients.flat_map(&:value).uniq - [200, 504]
    assert_empty early
  end
end
