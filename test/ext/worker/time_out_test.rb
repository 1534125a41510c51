# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/failing"
require_relative "../support/limited_lanes"

# request_timeout_soft raises RequestTimeout in the thread of a late request, and in no other thread.
class TimeOutTest < Support::LaneCase
  include Support::LimitedLanes

  def test_a_request_that_takes_too_long_ends
    server = limited { sleep }
    response = server.get("/slow")

    assert_equal [504, "504 Gateway Timeout\n"], [response.status, response.body]
    label, backtrace = @places.pop
    assert_equal "GET /slow", label
    assert_match(/in [`'].*sleep'/, backtrace.first)
    assert_equal 200, server.get("/quick").status
  end

  def test_ensure_runs_and_a_plain_rescue_lets_the_exception_pass
    seen = []
    server = limited do
      sleep
    rescue StandardError
      seen << :rescued
    ensure
      seen << :ensured
    end

    assert_equal 504, server.get("/slow").status
    assert_equal [:ensured], seen
  end

  def test_an_application_that_rescues_the_exception_gives_the_response
    server = limited do
      sleep
    rescue Bontebok::RequestTimeout => e
      [503, {}, [e.message]]
    end
    response = server.get("/slow")

    assert_equal [503, "the request has taken longer than request_timeout_soft"], [response.status, response.body]
    assert_equal 200, server.get("/quick").status
  end

  def test_on_error_gets_the_exception_and_gives_the_response
    told = []
    server = limited(on_error: ->(error, env) { [504, {}, [(told << error.class << env["PATH_INFO"]).to_s]] }) { sleep }

    assert_equal 504, server.get("/slow").status
    assert_equal [Bontebok::RequestTimeout, "/slow"], told
  end

  def test_on_error_may_give_the_text_alone
    response = limited(on_error: ->(*) { "too long" }) { sleep }.get("/slow")

    assert_equal [504, "too long"], [response.status, response.body]
  end

  def test_a_response_that_has_begun_is_aborted
    body = Support::Failing::Body.new(->(out) { out.call("x") || sleep })
    server = limited { [200, {}, body] }
    server.connect do |client|
      client.request("GET", "/slow")

      assert_includes %i[eof reset], client.wait_for_end
    end
    assert_equal 1, body.closed
  end

  # If close were interrupted, a database connection or a lock might not be released.
  def test_a_close_that_takes_too_long_is_not_interrupted
    closed = nil
    body = Support::Failing::Body.new(->(out) { out.call("x") }, close: -> { closed = @looks.pop })
    server = limited { [200, {}, body] }
    server.connect do |client|
      client.request("GET", "/slow")

      assert_equal "x", client.read_response.body
      client.request("GET", "/quick")

      assert_equal "ok", client.read_response.body
    end
    assert closed
    assert_empty @places
  end

  # By Rack's SPEC, to_ary also closes the body.
  def test_a_to_ary_that_takes_too_long_is_not_interrupted
    body = Object.new
    looks = @looks
    body.define_singleton_method(:to_ary) { looks.pop && ["whole"] }

    assert_equal "whole", limited { [200, {}, body] }.get("/slow").body
    assert_empty @places
  end

  def test_the_timeout_applies_to_each_after_a_slow_to_ary
    body = Object.new
    looks = @looks
    body.define_singleton_method(:to_ary) { looks.pop && nil }
    body.define_singleton_method(:each) { |&_block| sleep }

    assert_equal 504, limited { [200, {}, body] }.get("/slow").status
  end

  # RequestTimeout is never raised while the server sends or closes a response of on_error.
  def test_the_close_of_a_response_of_on_error_is_not_interrupted
    closed = Queue.new
    body = Support::Failing::Body.new(->(out) { out.call("sorry") })
    result = -> { [500, {}, Rack::BodyProxy.new(body) { closed << @looks.pop }] }
    server = limited(on_error: ->(*) { result.call }) { raise "boom" }

    assert_equal "sorry", server.get("/slow").body
    assert closed.pop
    assert_equal 200, server.get("/quick").status
    assert_empty @places
    assert_equal "boom", server.next_report.error.message
  end

  def test_only_the_late_request_ends
    extended = Queue.new
    go_on = Queue.new
    server = limited(count: 2, soft: 2 * SOFT) do # leaves time to call extend_timeout
      next sleep unless go_on.num_waiting.zero? && extended.empty?

      server.lanes.each { |lane| extend_if_mine(lane) }
      extended << true
      go_on.pop
    end
    other = Thread.new { server.get("/slow").status }
    eventually { go_on.num_waiting == 1 }

    assert_equal 504, server.get("/slow").status
    go_on << true
    assert_equal 200, other.value
  end

  def test_requests_end_under_gc_stress
    server = limited { sleep }
    statuses = under_gc_stress { Array.new(3) { server.get("/slow").status } }

    assert_equal [504] * 3, statuses
    assert_equal 200, server.get("/quick").status
  end

  def test_only_the_thread_that_serves_can_ask_for_more_time
    lane = limited { OK }.lanes.first

    assert_raises(ThreadError) { lane.extend_timeout(1) }
    [-1, Float::NAN, Float::INFINITY].each { |bad| assert_raises(ArgumentError) { lane.extend_timeout(bad) } }
    assert_raises(TypeError) { lane.extend_timeout("1") }
    assert_nil lane.time_out
  end

  private

  def extend_if_mine(lane)
    lane.extend_timeout(3600)
  rescue ThreadError
    nil
  end
end
