# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/busy_worker"

# A busy worker keeps no request waiting while another worker is idle.
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

  # The other threads of the busy worker could serve, but one at a time, and they would slow the busy thread down.
  def test_the_other_threads_of_a_busy_worker_stand_back
    server = start("-w", "2", "-t", "4")
    kept = Array.new(10) { connect(server) }
    kept.each { |client| ask(client) }
    busy = block(server, kept.first)
    idle = other_than(server, busy)
    eventually { ask(connect(server)) == idle }
    # For a moment between two requests, the idle worker is not seen to be idle.
    assert_operator Array.new(20) { ask(connect(server)) }.count(idle), :>=, 18
    assert_operator kept.drop(1).map { |client| ask(client) }.count(idle), :>=, 8
    unblock(kept.first)
  end

  def test_other_threads_serve_if_all_workers_are_busy
    server = start("-w", "2", "-t", "2")
    busy = block(server, connect(server), "gate1")
    blockers = Array.new(2) { connect(server) }
    assert_equal other_than(server, busy), block(server, blockers.first, "gate2")
    pids = Array.new(20) { ask(connect(server)) }
    assert_empty pids.uniq - workers(server)
    unblock(@clients.first, "gate1")
    unblock(blockers.first, "gate2")
  end

  # Requests for which no worker is idle wait in the shared queue. They outlive the worker that put them there.
  def test_requests_in_the_shared_queue_outlive_a_killed_worker
    server = start("-w", "2", "-t", "1", listen: :tcp)
    kept = Array.new(10) { connect(server) }
    kept.each { |client| ask(client) }
    busy = block(server, kept.first, "gate1")
    block(server, connect(server), "gate2")
    waiting = kept.drop(1)
    before = sockets(server)
    waiting.each { |client| client.request("GET", "/") }
    eventually(10, "all are in the queue") { sockets(server) == before - waiting.size }
    Process.kill("KILL", busy)
    temp_file("gate2")
    waiting.each { |client| assert_equal 200, client.read_response.status }
    assert_equal 200, @clients.last.read_response.status
    wait_for_workers(server, 2, without: [busy])
  end
end
