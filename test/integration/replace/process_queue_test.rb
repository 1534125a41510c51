# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Connections that wait in the accept queue when workers leave. If one worker leaves, the other workers accept these
# connections. If the server stops, each worker accepts some of these connections.
class ProcessQueueTest < Support::TestCase
  include ProcessTree

  WORKERS = 3
  QUEUED = 60
  SLOW_APP = <<~RUBY
    run ->(_) { sleep 0.05; [200, { "connection" => "close" }, [Process.pid.to_s]] }
  RUBY

  def test_other_workers_accept_queued_connections_when_a_worker_leaves
    server, old = start
    clients = queue_up(server)
    Process.kill("TERM", old.first)
    server.wait_for_output(/ info #{old.first} w\d g1 wants to be replaced: SIGTERM$/)
    served = responses(clients)
    assert_operator served.fetch(old.first.to_s, 0), :<, QUEUED * 2 / 3, served.inspect
    wait_for_workers(server, WORKERS, without: old.first(1))
  end

  def test_workers_that_stop_share_the_queued_connections
    server, old = start
    clients = queue_up(server)
    server.signal("TERM")
    served = responses(clients)
    assert_equal old.map(&:to_s).sort, served.keys.sort
    assert_operator served.values.max, :<, QUEUED * 2 / 3, served.inspect
    assert_equal 0, server.wait.exitstatus
  end

  private

  def start
    server = start_bontebok(args: ["-w", WORKERS.to_s], rackup: SLOW_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    [server, workers(server)]
  end

  def queue_up(server)
    Array.new(QUEUED) { server.connect.tap { |client| client.request("GET", "/") } }
  end

  # Returns { pid of a worker => number of its responses }.
  def responses(clients)
    clients.map { |client| client.read_response.body }.tally
  ensure
    clients.each(&:close)
  end
end
