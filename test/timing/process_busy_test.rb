# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/busy_worker"

# No request waits for a busy worker while another worker is idle.
class ProcessBusyTest < Support::TestCase
  include Support::OnceMore
  include BusyWorker

  def test_an_idle_worker_serves_the_kept_connections_of_a_busy_worker
    %i[tcp unix].each do |listen|
      server = start("-w", "2", listen: listen)
      clients = Array.new(20) { connect(server) }
      clients.each { |client| ask(client) }
      busy = block(server, clients.first)
      3.times { clients.drop(1).each { |client| assert_equal other_than(server, busy), ask(client) } }
      assert_equal busy, unblock(clients.first)
      File.unlink(File.join(temp_dir, "gate"))
      server.stop
    end
  end

  def test_an_idle_worker_serves_new_connections
    server = start("-w", "2")
    busy = block(server, connect(server))
    20.times { assert_equal other_than(server, busy), ask(connect(server)) }
    unblock(@clients.first)
  end

  # Only one thread of a worker runs at a time, so a second request in the busy worker would slow down the first
  # request.
  def test_an_idle_worker_serves_before_the_other_threads_of_a_busy_worker
    server = start("-w", "2", "-t", "4")
    kept = Array.new(10) { connect(server) }
    kept.each { |client| ask(client) }
    busy = block(server, kept.first)
    idle = other_than(server, busy)
    eventually { ask(connect(server)) == idle }
    # For a moment after each response, the idle worker still counts as busy.
    assert_operator Array.new(20) { ask(connect(server)) }.count(idle), :>=, 18
    assert_operator kept.drop(1).map { |client| ask(client) }.count(idle), :>=, 8
    unblock(kept.first)
  end

  def test_other_threads_of_busy_workers_serve_if_no_worker_is_idle
    server = start("-w", "2", "-t", "2")
    busy = block(server, connect(server), "gate1")
    blockers = Array.new(2) { connect(server) }
    assert_equal other_than(server, busy), block(server, blockers.first, "gate2")
    pids = Array.new(20) { ask(connect(server)) }
    assert_empty pids.uniq - workers(server)
    unblock(@clients.first, "gate1")
    unblock(blockers.first, "gate2")
  end

  # If no worker is idle, requests wait in the shared queue. They are served even if the worker that queued them is
  # killed.
  def test_requests_in_the_shared_queue_outlive_a_killed_worker
    server = start("-w", "2", "-t", "1", listen: :tcp)
    kept = Array.new(10) { connect(server) }
    kept.each { |client| ask(client) }
    busy = block(server, kept.first, "gate1")
    block(server, connect(server), "gate2")
    waiting = kept.drop(1)
    before = sockets(server)
    waiting.each { |client| client.request("GET", "/") }
    eventually("all are in the queue") { sockets(server) == before - waiting.size }
    Process.kill("KILL", busy)
    temp_file("gate2")
    waiting.each { |client| assert_equal 200, client.read_response.status }
    assert_equal 200, @clients.last.read_response.status
    wait_for_workers(server, 2, without: [busy])
  end
end
