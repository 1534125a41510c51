# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/busy_worker"

# Tests queue_timeout and max_queue, which limit the requests that wait while all workers are busy.
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

  # Returns clients with open connections. Each client has got one response. So both workers can own some of the
  # connections.
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

  # The frozen worker is still marked idle in the scoreboard (a table in shared memory), but it accepts no request.
  def test_an_idle_worker_that_is_frozen_does_not_count_as_idle
    server = start("--queue-timeout", "#{SOON}s")
    client = connect(server)
    stopped = (workers(server) - [ask(client)]).first
    stop_process(stopped)
    block(server, client, "gate")
    2.times { assert_refused(send_request(server)) }
    Process.kill("CONT", stopped)
    eventually("a response of the stopped worker") { server.get.body.to_i == stopped }
    unblock(client, "gate")
  ensure
    Process.kill("CONT", stopped) if stopped
  end

  %i[unix tcp].each do |transport|
    define_method("test_no_request_waits_longer_than_queue_timeout_over_#{transport}") do
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
      server.wait_for_output(/queue_timeout: no worker has had time for a request \(503\)/)
      eventually { server.output.lines.count("503 + line") == 8 }
    end

    define_method("test_no_more_requests_wait_than_max_queue_over_#{transport}") do
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
      server.wait_for_output(/max_queue: too many requests wait for a worker \(503\)/)
    end
  end

  # The server neither reads the body of a million bytes nor sends 100 Continue.
  def test_the_server_closes_the_connection_if_it_rejects_a_request_before_its_body
    server = start("--max-queue", MOST)
    blocked = block_all(server)
    clients = wait_in_line(server)
    client = send_request(server, "/", { "Content-Length" => 1_000_000, "Expect" => "100-continue" })
    assert_refused(client, kept: false)
    assert_equal :eof, client.wait_for_end
    unblock_all(blocked)
    assert_most_are_served(clients)
  end

  def test_health_checks_are_not_rejected
    server = start("--queue-timeout", "#{SOON}s", "--max-queue", 2, "--health-paths", "/up /healthz")
    blocked = block_all(server)
    checks = %w[/up /healthz?x].map { |target| send_request(server, target) }
    3.times { assert_refused(send_request(server, "/upper")) }
    assert(checks.all? { |client| client.quiet?(0.01) })
    unblock_all(blocked)
    checks.each { |client| assert_equal 200, client.read_response.status }
  end

  # The killed workers have put the waiting requests into the queue and have counted them.
  def test_killed_workers_leave_the_count_of_waiting_requests_right
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

  def test_no_request_is_rejected_while_a_worker_is_idle
    server = start("--queue-timeout", "#{SOON}s", "--max-queue", 1)
    busy = connect(server)
    block(server, busy)
    20.times { assert_equal 200, server.get.status }
    client = keep(server, 1).first
    20.times { ask(client) }
    unblock(busy)
  end

  # queue_timeout and max_queue are set, but no request waits.
  def test_no_worker_wakes_up_for_an_empty_queue
    server = start("--queue-timeout", "#{SOON}s", "--max-queue", 1)
    kept = keep(server)
    before = nil
    eventually { before == (before = wake_ups(server)) }
    assert kept.first.quiet?(SOON)
    assert_operator wake_ups(server) - before, :<, 10
  end

  private

  # Sends twice as many requests as max_queue allows to wait, so the server rejects about half of the requests. Returns
  # when the waiting requests are in the shared queue.
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

  # MOST + 1 requests can wait, because two workers can put a request into the queue at the same moment.
  def assert_most_are_served(clients)
    statuses = clients.map { |client| client.read_response.status }
    assert_includes [MOST, MOST + 1], statuses.count(200), statuses
    assert_equal 2 * MOST, statuses.count(200) + statuses.count(503), statuses
  end

  def wake_ups(server)
    workers(server).sum { |pid| Support::ProcessTable.sleeps(pid) }
  end
end
