# frozen_string_literal: true

require_relative "../support/lane_case"

# A lane among threads: it waits without holding the others up, and it counts.
class LaneTest < Support::LaneCase
  Lane = Bontebok::Core::Lane
  # An application that is one method written in C: whatever env it is asked for, the Hash has the same answer.
  NATIVE = Hash.new(OK).compare_by_identity.tap { |hash| hash.singleton_class.alias_method(:call, :[]) }

  # Fills the sockets with that many requests each, says how many there are, then reads until the server closes them.
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

  def test_drain_from_a_trap_handler
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
    # One after the other: an idle lane may accept both before either has asked, and would serve them in turn.
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

  def test_it_counts
    server = serve { |env| env["PATH_INFO"] == "/fail" ? raise("x") : OK }

    assert_equal 0, server.worker.requests
    server.get
    server.get("/fail")
    server.stop

    assert_equal 2, server.worker.requests
    server.next_report
  end

  def test_max_requests_is_told_once_and_changes_nothing
    server = serve(max_requests: 3) { OK }
    2.times { server.get }

    assert_empty server.reports
    4.times { server.get }
    assert_equal [[:max_requests, nil, nil]], server.reports.map(&:to_a)
    assert_equal "ok", server.get.body
  end

  # However unevenly they are shared out.
  def test_max_requests_counts_those_of_all_lanes
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

    eventually { count > before + 20 }
  ensure
    thread.kill.join
  end

  # The lane has a second's work in its sockets before it begins, and an application that runs no Ruby code which
  # would let go of the lock: the other thread must see it in the middle.
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

  def test_one_thread_serves_a_lane
    server = serve { OK }
    server.get

    assert_raises(ThreadError) { server.lanes.first.serve }
  end

  def test_what_the_core_tells_is_reported
    server = serve(settings: { spool_threshold: 1, spool_max: 10 }) { OK }

    assert_equal 507, server.request("POST", "/", {}, "x" * 100_000).status
    assert_match(/\A127\.0\.0\.1: .+ \(507\)/, server.next_report.message)
  end

  def test_mistakes
    worker = Bontebok::Core::Worker.new
    assert_raises(ArgumentError) { Lane.new(worker, OK) }
    assert_raises(ArgumentError) { Lane.new(worker, OK, report: nil, other: 1) }
    assert_raises(TypeError) { Lane.new(Object.new, OK, report: nil) }
    assert_raises(TypeError) { Lane.new(worker, OK, report: nil, env: 1) }
    assert_raises(RuntimeError) { Lane.allocate.serve }
    assert_raises(RuntimeError) { Lane.new(worker, OK, report: nil).send(:initialize, worker, OK, report: nil) }
  end
end
