# frozen_string_literal: true

require_relative "support/lane_case"
require_relative "support/failing"
require "io/wait"

# RequestTimeoutSoft: an exception in the thread of a request that takes too long, and in no other.
class TimeOutTest < Support::LaneCase
  SOFT = VALGRIND ? 3000 : 50
  REQUESTS = VALGRIND ? 20 : 300

  def setup
    super
    @places = Queue.new
    @watches = []
  end

  def teardown
    @watches.each(&:kill).each(&:join)
    super
  end

  def test_the_request_ends
    server = limited { sleep }
    response = server.get("/slow")

    assert_equal [504, "504 Gateway Timeout\n"], [response.status, response.body]
    label, backtrace = @places.pop
    assert_equal "GET /slow", label
    assert_match(/in [`'].*sleep'/, backtrace.first)
    assert_equal 200, server.get("/quick").status
  end

  def test_ensure_runs_and_a_plain_rescue_lets_it_pass
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

  def test_an_application_that_rescues_it_answers
    server = limited do
      sleep
    rescue Bontebok::RequestTimeout => e
      [503, {}, [e.message]]
    end
    response = server.get("/slow")

    assert_equal [503, "the request has taken longer than RequestTimeoutSoft"], [response.status, response.body]
    assert_equal 200, server.get("/quick").status
  end

  def test_on_error_is_told_and_answers
    told = []
    server = limited(on_error: ->(error, env) { [504, {}, [(told << error.class << env["PATH_INFO"]).to_s]] }) { sleep }

    assert_equal 504, server.get("/slow").status
    assert_equal [Bontebok::RequestTimeout, "/slow"], told
  end

  def test_an_answer_that_has_begun_breaks_off
    body = Support::Failing::Body.new(->(out) { out.call("x") || sleep })
    server = limited { [200, {}, body] }
    server.connect do |client|
      client.request("GET", "/slow")

      assert_includes %i[eof reset], client.wait_for_end
    end
    assert_equal 1, body.closed
  end

  def test_a_close_that_takes_too_long_ends
    body = Support::Failing::Body.new(->(out) { out.call("x") }, close: -> { sleep })
    server = limited { [200, {}, body] }
    server.connect do |client|
      client.request("GET", "/slow")

      assert_equal "x", client.read_response.body
      client.request("GET", "/quick")

      assert_equal "ok", client.read_response.body
    end
    assert_equal 1, body.closed
  end

  def test_only_the_one_that_is_late
    extended = Queue.new
    go_on = Queue.new
    server = limited(count: 2) do
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

  # Where the thread hears of it only when it waits: it must not outlive its request.
  def test_one_that_arrives_too_late_is_gone
    server = Thread.handle_interrupt(Bontebok::RequestTimeout => :on_blocking) do
      limited { Thread.pass while @places.empty? }
    end

    assert_equal 200, server.get("/slow").status
    assert_equal 200, server.get("/quick").status
  end

  # Ruby may switch threads between the last look at a request and the moment at which it is raised there.
  def test_one_that_ends_while_it_is_raised
    ending = false
    trace = TracePoint.new(:c_call) do |call|
      next unless call.method_id == :raise && @watches.include?(Thread.current)

      ending = true
      100.times { Thread.pass }
    end
    server = limited { Thread.pass until ending }

    trace.enable

    assert_equal 200, server.get("/slow").status
    assert @places.pop
    assert_equal 200, server.get("/quick").status
  ensure
    trace&.disable
  end

  # Ends and limits of requests meet, in whichever order.
  def test_none_is_meant_for_another
    early = []
    server = limited(count: 2, soft: 2) do |env|
      sleep(rand(0.001..0.004))
    rescue Bontebok::RequestTimeout
      took = now - Float(env["HTTP_X_SENT"])
      early << took if took < 0.001
      raise
    end
    clients = Array.new(2) { Thread.new { Array.new(REQUESTS) { server.get("/slow", "X-Sent" => now).status } } }

    assert_empty clients.flat_map(&:value).uniq - [200, 504]
    assert_empty early
  end

  def test_while_objects_are_collected
    server = limited { sleep }
    statuses = under_gc_stress { Array.new(3) { server.get("/slow").status } }

    assert_equal [504] * 3, statuses
    assert_equal 200, server.get("/quick").status
  end

  def test_more_time_is_for_the_thread_that_serves
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

  # The block serves /slow. What lib's main thread does is done here.
  def limited(soft: SOFT, **options, &slow)
    app = ->(env) { env["PATH_INFO"] == "/quick" ? OK : answer_of(slow, env) }
    server = serve(app, settings: { request_timeout_soft: soft }, **options)
    @watches << Thread.new { watch(server) }
    server
  end

  def answer_of(slow, env)
    answer = slow.call(env)
    answer.is_a?(Array) ? answer : OK
  end

  def watch(server)
    alarm = IO.for_fd(server.worker.alarm, autoclose: false)
    loop do
      alarm.wait_readable
      alarm.read_nonblock(8, exception: false)
      server.lanes.filter_map(&:time_out).each { |place| @places << place }
    end
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
