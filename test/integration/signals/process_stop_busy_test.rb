# frozen_string_literal: true

require "test_helper"
require_relative "../support/busy_worker"

# A graceful stop while one lane is busy for a long time. Other lanes serve the connections of the busy lane.
class ProcessStopBusyTest < Support::TestCase
  include BusyWorker

  KEPT = 12
  # These times are so long that a test that waits for them fails.
  LONG = %w[--keepalive-drain 10m --graceful-timeout 10m].freeze

  [%w[-w 1 -t 3], %w[-w 3 -t 1], %w[-w 2 -t 2], %w[-w 0 -t 2]].each do |args|
    define_method(:"test_kept_alive_connections_are_served_with#{args.join("_").tr("-", "_")}") do
      server = start(*args, *LONG, listen: :tcp)
      kept = Array.new(KEPT) { connect(server).tap { |client| ask(client) } }
      busy = connect(server)
      block(server, busy)
      server.signal("TERM")
      server.wait_for_output(/ stopping/)
      kept.each { |client| assert_last_response(client) }
      temp_file("gate")

      assert_equal 200, busy.read_response.status
      @clients.each(&:close)
      assert_predicate server.wait, :success?
    end
  end

  # Both workers are busy, so no worker accepts the connections before the stop.
  def test_queued_connections_are_served
    server = start("-w", "2", "-t", "1", *LONG, listen: :tcp)
    busy = Array.new(2) { |number| connect(server).tap { |client| block(server, client, "gate#{number}") } }
    queued = Array.new(KEPT) { connect(server).tap { |client| client.request("GET", "/") } }
    server.signal("TERM")
    server.wait_for_output(/ stopping/)
    eventually { refused?(server) }
    temp_file("gate0")
    queued.each { |client| assert_equal 200, client.read_response.status }
    temp_file("gate1")
    busy.each { |client| assert_equal 200, client.read_response.status }
    @clients.each(&:close)

    assert_predicate server.wait, :success?
  end

  private

  # Each worker receives the order to stop at its own time. Before the order, the worker keeps the connection open.
  def assert_last_response(client)
    eventually do
      response = client.get
      assert_equal 200, response.status
      response["connection"] == "close"
    end
  end

  def refused?(server)
    server.connect(&:close)
    false
  rescue SystemCallError
    true
  end
end
