# frozen_string_literal: true

require_relative "support/lane_case"
require_relative "support/failing"

# A lane among threads: it waits without holding the others up, it can be interrupted, it counts.
class LaneTest < Support::LaneCase
  Lane = Bontebok::Core::Lane
  # An application that is one method written in C: whatever env it is asked for, the Hash has the same answer.
  NATIVE = Hash.new(OK).compare_by_identity.tap { |hash| hash.singleton_class.alias_method(:call, :[]) }

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
    clients = Array.new(2) { server.connect.tap { |client| client.request("GET", "/") } }

    assert_equal 2, Array.new(2) { inside.pop }.uniq.size
    2.times { go_on << true }
    assert_equal(%w[ok ok], clients.map { |client| client.read_response.body })
  ensure
    clients&.each(&:close)
  end

  def test_it_counts
    server = serve { |env| env["PATH_INFO"] == "/fail" ? raise("x") : OK }

    assert_equal 0, server.lanes.first.requests
    server.get
    server.get("/fail")
    server.stop

    assert_equal 2, server.lanes.first.requests
    server.next_report
  end

  def test_max_requests_is_told_once_and_changes_nothing
    server = serve(max_requests: 3) { OK }
    6.times { server.get }

    assert_equal [[:max_requests, nil, nil]], server.reports.map(&:to_a)
    assert_equal "ok", server.get.body
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

  # The lane is never idle, and its application runs no Ruby code that would let go of the lock.
  def test_a_background_thread_runs_under_full_load
    count = 0
    thread = Thread.new { loop { (count += 1) && sleep(0.001) } }
    server = serve(NATIVE)
    load = IO.popen([Gem.ruby, "-rsocket", "-e", <<~RUBY, server.address.text.delete_prefix("unix:")])
      socket = UNIXSocket.new(ARGV[0])
      socket.write(request = "GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
      size = socket.readpartial(65_536).bytesize
      loop { socket.write(request * 100) && socket.read(size * 100) }
    RUBY
    eventually { server.lanes.first.requests > 1000 }
    before = [count, server.lanes.first.requests]

    eventually { count > before[0] + 20 }
    assert_operator server.lanes.first.requests, :>, before[1]
  ensure
    Process.kill("KILL", load.pid)
    load.close
    thread.kill.join
  end

  def test_a_waiting_lane_can_be_killed
    server = serve { OK }
    server.get
    eventually { server.threads.first.stop? }
    server.threads.first.kill

    assert_equal [nil], server.wait
  end

  def test_a_waiting_lane_can_be_interrupted
    server = serve { OK }
    server.get
    server.threads.first.raise(Interrupt, "now")

    assert_equal "now", assert_raises(Interrupt) { server.wait }.message
  end

  # In the middle of a request: the client sees an abort, the body is closed.
  def test_killed_while_the_client_waits
    { call: [OK], each: [200, {}, :each], stream: [200, {}, :call] }.each_key do |where|
      inside = Queue.new
      body = blocking_body(where, inside)
      server = serve { where == :call ? (inside << true) && sleep : [200, {}, body] }
      server.connect do |client|
        client.request("GET", "/")
        inside.pop
        server.threads.first.kill

        assert_includes %i[eof reset], client.wait_for_end, where
      end
      assert_equal [nil], server.wait
      assert_equal where == :call ? 0 : 1, body.closed, where
    end
  end

  def test_killed_while_the_lane_waits_for_the_client
    body = Support::Failing::Body.new(->(out) { loop { out.call("x" * 100_000) } })
    server = serve(settings: { response_buffer: 1000 }) { [200, {}, body] }
    server.connect do |client|
      client.request("GET", "/")
      client.read(1000)
      eventually { server.threads.first.stop? }
      server.threads.first.kill

      assert_equal [nil], server.wait
    end
    assert_equal 1, body.closed
  end

  def test_a_throw_to_a_catch_around_serve_ends_the_request
    worker, lane, client = by_hand { throw :out, :thrown }
    client.request("GET", "/")

    assert_equal :thrown, catch(:out) { lane.serve }
    assert_includes %i[eof reset], client.wait_for_end
    worker.drain
    assert_nil lane.serve, "it can be served again"
  ensure
    client&.close
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

  private

  # A body that says where it is and stays there.
  def blocking_body(where, inside)
    return Support::Failing::Body.new(call: ->(_) { (inside << true) && sleep }) if where == :stream

    Support::Failing::Body.new(->(out) { out.call("x") || ((inside << true) && sleep) })
  end

  # A lane that nobody serves yet, and a client of it.
  def by_hand(&app)
    listener, address = unix_listener
    listener.autoclose = false
    worker = Bontebok::Core::Worker.new
    worker.listen(listener.fileno, "localhost", 80)
    [worker, Lane.new(worker, app, report: ->(*) {}), Support::Client.new(address)]
  end
end
