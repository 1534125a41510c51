# frozen_string_literal: true

require_relative "../support/lane_case"

# While a lane waits, it does not block other threads. This file also tests the counts of requests.
class LaneTest < Support::LaneCase
  Lane = Bontebok::Core::Lane
  # An application without Ruby code: Hash#[] returns OK, the default of the Hash, for each env.
  NATIVE = Hash.new(OK).compare_by_identity.tap { |hash| hash.singleton_class.alias_method(:call, :[]) }

  # FULL_LOAD sends PIPELINED requests to each of its sockets, prints the number of all requests, and reads until the
  # server closes the sockets.
  PIPELINED = VALGRIND ? 200 : 4000
  FULL_LOAD = <<~RUBY.freeze
    sockets = Array.new(50) { UNIXSocket.new(ARGV[0]) }
    sockets.each { |socket| socket.write("GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" * #{PIPELINED}) }
    $stdout.puts(50 * #{PIPELINED})
    $stdout.flush
    until sockets.empty?
      IO.select(sockets).first.each { |socket| socket.readpartial(1 << 20) rescue sockets.delete(socket) }
    end
  RUBY

  def test_serve_ends_when_the_worker_drains
    server = serve { OK }
    server.get

    assert_equal [nil], server.stop
  end

  def test_a_trap_handler_can_drain_the_worker
    server = serve { OK }
    former = trap("USR2") { server.worker.drain }
    Process.kill("USR2", Process.pid)

    assert_equal [nil], server.wait
  ensure
    trap("USR2", former)
  end

  def test_lanes_serve_at_the_same_time
    inside = Queue.new
    go_on = Queue.new
    server = serve(count: 2) { |_| (inside << Thread.current) && go_on.pop && OK }
    clients = []
    # The second client connects after the first request has begun. Otherwise one idle lane might accept both
    # connections and serve them one after the other.
    lanes = Array.new(2) do
      clients << server.connect.tap { |client| client.request("GET", "/") }
      inside.pop
    end

    assert_equal 2, lanes.uniq.size
    2.times { go_on << true }
    assert_equal(%w[ok ok], clients.map { |client| client.read_response.body })
  ensure
    clients&.each(&:close)
  end

  def test_a_worker_counts_requests_even_if_they_fail
    server = serve { |env| env["PATH_INFO"] == "/fail" ? raise("x") : OK }

    assert_equal 0, server.worker.requests
    server.get
    server.get("/fail")
    server.stop

    assert_equal 2, server.worker.requests
    server.next_report
  end

  def test_max_requests_is_reported_once_and_later_requests_are_served
    server = serve(max_requests: 3) { OK }
    2.times { server.get }

    assert_empty server.reports
    4.times { server.get }
    assert_equal [[:max_requests, nil, nil]], server.reports.map(&:to_a)
    assert_equal "ok", server.get.body
  end

  def test_max_requests_counts_the_requests_of_all_lanes
    inside = Queue.new
    go_on = Queue.new
    server = serve(max_requests: 5, count: 2) do |env|
      (inside << true) && go_on.pop if env["PATH_INFO"] == "/wait"
      OK
    end
    server.connect do |client|
      client.request("GET", "/wait")
      inside.pop
      4.times { server.get }

      assert_empty server.reports
      go_on << true
      client.read_response
    end
    assert_equal [:max_requests, 5], [server.next_report.level, server.worker.requests]
  end

  def test_a_background_thread_runs_while_the_lane_waits
    count = 0
    thread = Thread.new { loop { (count += 1) && sleep(0.001) } }
    serve { OK }
    before = count

    assert(eventually { count > before + 20 })
  ensure
    thread.kill.join
  end

  # Before the lane begins, the sockets hold requests for about one second of work. The application runs no Ruby code
  # that would release Ruby's lock. The other thread must run before the lane has served all requests.
  def test_a_background_thread_runs_under_full_load
    worker, lane, address = by_hand(NATIVE)
    load = IO.popen([Gem.ruby, "-rsocket", "-e", FULL_LOAD, address.text.delete_prefix("unix:")])
    total = load.gets.to_i
    seen = []
    observer = Thread.new { loop { (seen << worker.requests) && sleep(0.001) } }
    server = Thread.new { lane.serve }
    eventually { worker.requests >= total }

    assert(seen.any? { |requests| requests.between?(1, total - 1) })
  ensure
    worker.drain
    [observer&.kill, server].compact.each(&:join)
    load.close
  end

  def test_only_one_thread_can_serve_a_lane
    server = serve { OK }
    server.get

    assert_raises(ThreadError) { server.lanes.first.serve }
  end

  def test_a_message_of_the_core_is_reported
    server = serve(settings: { spool_threshold: 1, spool_max: 10 }) { OK }

    assert_equal 507, server.request("POST", "/", {}, "x" * 100_000).status
    assert_match(/\A127\.0\.0\.1: .+ \(507\)/, server.next_report.message)
  end

  def test_wrong_arguments_raise
    worker = Bontebok::Core::Worker.new
    assert_raises(ArgumentError) { Lane.new(worker, OK) }
    assert_raises(ArgumentError) { Lane.new(worker, OK, report: nil, other: 1) }
    assert_raises(TypeError) { Lane.new(Object.new, OK, report: nil) }
    assert_raises(TypeError) { Lane.new(worker, OK, report: nil, env: 1) }
    assert_raises(RuntimeError) { Lane.allocate.serve }
    assert_raises(RuntimeError) { Lane.new(worker, OK, report: nil).send(:initialize, worker, OK, report: nil) }
  end
end
