# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/busy_worker"

# QueueTimeout and MaxQueue: who waits while all workers are busy.
class QueueLimitsTest < Support::TestCase
  include Support::OnceMore
  include BusyWorker

  WORKERS = 2
  MOST = 3
  SOON = 0.5

  def start(*args, **options)
    super("-w", WORKERS, "-t", 1, "-E", "production", *args, **options)
      .tap { |server| wait_for_workers(server, WORKERS) }
  end

  def block_all(server, round = 0)
    Array.new(WORKERS) { |i| connect(server).tap { |client| block(server, client, "gate#{round}_#{i}") } }
  end

  def unblock_all(blocked, round = 0)
    blocked.each_with_index { |client, i| unblock(client, "gate#{round}_#{i}") }
  end

  # All that are connected and have been served, so that every worker may have some.
  def keep(server, count = 4)
    Array.new(count) { connect(server).tap { |client| ask(client) } }
  end

  def send_request(server, target = "/", fields = {}, body = nil)
    connect(server).tap { |client| client.request(body ? "POST" : "GET", target, fields, body) }
  end

  def assert_refused(client, kept: true)
    response = client.read_response
    assert_equal [503, "1", kept], [response.status, response["Retry-After"], response.keep_alive?]
  end

  # It says that it is idle, and takes nothing.
  def test_a_worker_that_is_stopped_while_it_is_idle
    server = start("--queue-timeout", "#{SOON}s")
    client = connect(server)
    stopped = (workers(server) - [ask(client)]).first
    stop_process(stopped)
    block(server, client, "gate")
    2.times { assert_refused(send_request(server)) }
    Process.kill("CONT", stopped)
    eventually(10, "an answer of the one that was stopped") { server.get.body.to_i == stopped }
    unblock(client, "gate")
  ensure
    Process.kill("CONT", stopped) if stopped
  end

  %i[unix tcp].each do |transport|
    define_method("test_nobody_waits_for_longer_than_queue_timeout_over_#{transport}") do
      server = start("--queue-timeout", "#{SOON}s", "--access-log", "-", "--access-log-format", "%>s %X line",
                     listen: transport)
      kept = keep(server)
      blocked = block_all(server)
      fresh = nil
      taken = Support::Deadline.seconds do
        kept.each { |client| client.request("GET", "/") }
        fresh = Array.new(4) { send_request(server, "/", {}, "GET / HTTP/1.1\r\n\r\n") }
        (kept + fresh).each { |client| assert_refused(client) }
      end
      assert_operator taken, :>, SOON / 2
      unblock_all(blocked)
      (kept + fresh).each { |client| assert_includes workers(server), ask(client) }
      server.wait_for_output(/QueueTimeout: no worker has had time for a request \(503\)/)
      eventually { server.output.lines.count("503 + line") == 8 }
    end

    define_method("test_no_more_wait_than_max_queue_over_#{transport}") do
      server = start("--max-queue", MOST, listen: transport)
      kept = keep(server, 1).first
      blocked = block_all(server)
      clients = wait_in_line(server)
      3.times do
        kept.request("POST", "/", {}, "GET / HTTP/1.1\r\n\r\n")
        assert_refused(kept)
      end
      unblock_all(blocked)
      assert_most_are_served(clients)
      assert_includes workers(server), ask(kept)
      server.wait_for_output(/MaxQueue: as many requests wait for a worker \(503\)/)
    end
  end

  # Nobody reads a million bytes for it, nor asks for them.
  def test_a_body_that_is_still_to_come
    server = start("--max-queue", MOST)
    blocked = block_all(server)
    clients = wait_in_line(server)
    client = send_request(server, "/", { "Content-Length" => 1_000_000, "Expect" => "100-continue" })
    assert_refused(client, kept: false)
    assert_equal :eof, client.wait_for_end
    unblock_all(blocked)
    assert_most_are_served(clients)
  end

  def test_health_checks_are_not_refused
    server = start("--queue-timeout", "#{SOON}s", "--max-queue", 2, "--health-paths", "/up /healthz")
    blocked = block_all(server)
    checks = %w[/up /healthz?x].map { |target| send_request(server, target) }
    3.times { assert_refused(send_request(server, "/upper")) }
    assert(checks.all? { |client| client.quiet?(0.01) })
    unblock_all(blocked)
    checks.each { |client| assert_equal 200, client.read_response.status }
  end

  # They have put into the queue what waits there, and have counted it.
  def test_killed_workers_leave_the_count_right
    server = start("--max-queue", MOST)
    3.times do |round|
      before = workers(server)
      blocked = block_all(server, round)
      clients = wait_in_line(server)
      Process.kill("KILL", *before)
      wait_for_workers(server, WORKERS, without: before)
      assert_most_are_served(clients)
      blocked.each { |client| assert_raises(Support::Client::Closed) { client.read_response } }
    end
  end

  def test_nobody_is_refused_while_a_worker_is_idle
    server = start("--queue-timeout", "#{SOON}s", "--max-queue", 1)
    busy = connect(server)
    block(server, busy)
    20.times { assert_equal 200, server.get.status }
    client = keep(server, 1).first
    20.times { ask(client) }
    unblock(busy)
  end

  # There are limits to look after, but nobody who waits.
  def test_nobody_wakes_up_for_nothing
    server = start("--queue-timeout", "#{SOON}s", "--max-queue", 1)
    kept = keep(server)
    before = nil
    eventually { before == (before = wake_ups(server)) }
    assert kept.first.quiet?(SOON)
    assert_operator wake_ups(server) - before, :<, 10
  end

  private

  # More than may wait, and those that come later: all of these are refused. Those who wait are in the queue.
  def wait_in_line(server)
    before = sockets(server)
    clients = Array.new(2 * MOST) { send_request(server) }
    eventually { refused(clients) >= MOST - 1 }
    3.times { assert_refused(send_request(server)) }
    eventually { sockets(server) <= before + refused(clients) + 3 }
    clients
  end

  def refused(clients)
    clients.count { |client| !client.quiet?(0) }
  end

  # Two workers that put one into the queue in the same moment may find room for both.
  def assert_most_are_served(clients)
    statuses = clients.map { |client| client.read_response.status }
    assert_includes [MOST, MOST + 1], statuses.count(200), statuses
    assert_equal 2 * MOST, statuses.count(200) + statuses.count(503), statuses
  end

  def wake_ups(server)
    workers(server).sum { |pid| Support::ProcessTable.sleeps(pid) }
  end
end
