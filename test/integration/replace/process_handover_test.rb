# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# When a worker leaves, other workers get its connections, and no client notices this.
class ProcessHandoverTest < Support::TestCase
  include ProcessTree

  PID_APP = "run ->(_) { [200, {}, [Process.pid.to_s]] }\n"

  def setup
    @clients = []
  end

  def teardown
    @clients.each(&:close)
  end

  # Opens `count` connections. Returns { client => pid of the worker that has responded }.
  def connected(server, count)
    @clients = Array.new(count) { Support::Client.new(server.address) }
    @clients.to_h { |client| [client, ask(client)] }
  end

  def ask(client)
    client.request("GET", "/")
    read_pid(client)
  end

  def ask_at_gate(client)
    client.request("GET", "/")
    assert_equal 200, client.read_response.status
  end

  def read_pid(client)
    response = client.read_response
    assert_equal 200, response.status
    assert_predicate response, :keep_alive?
    response.body.to_i
  end

  def renew(server)
    former = workers(server)
    yield
    wait_for_workers(server, former.size, without: former)
  end

  def test_kept_connections_stay_open
    { tcp: %w[-w 2], unix: %w[-w 1] }.each do |listen, args|
      server = start_bontebok(listen: listen, args: args, rackup: PID_APP)
      connected(server, 40)
      %w[HUP USR1].each do |signal|
        present = renew(server) { server.signal(signal) }
        @clients.each { |client| assert_includes present, ask(client), signal }
      end
      @clients.each(&:close)
      server.stop
    end
  end

  def test_the_workers_of_a_new_master_get_the_connections
    server = start_bontebok(args: %w[-w 2], rackup: PID_APP)
    connected(server, 20)
    present = renew(server) { Process.kill("TERM", master(server).pid) }
    @clients.each { |client| assert_includes present, ask(client) }
  end

  def test_a_connection_with_an_incomplete_head_is_passed_on
    server = start_bontebok(args: %w[-w 1], rackup: PID_APP)
    connected(server, 5).each_key { |client| client.write("GET / HTTP/1.1\r\nHo") }
    present = renew(server) { server.signal("HUP") }
    @clients.each do |client|
      client.write("st: a\r\n\r\n")
      assert_includes present, read_pid(client)
    end
  end

  # The client has one connection. Each worker is replaced after ten requests.
  def test_a_client_does_not_notice_that_workers_are_recycled
    server = start_bontebok(args: %w[-w 2 --max-request-per-child 10], rackup: PID_APP)
    client = connected(server, 1).keys.first
    pids = []
    eventually { (pids |= [ask(client)]).size > 4 }
  end

  def test_the_connections_of_a_busy_worker_that_leaves_are_served_by_the_new_worker
    make_gate
    server = start_bontebok(args: %w[-w 1], rackup: GATED_APP)
    @clients = Array.new(10) { Support::Client.new(server.address) }
    @clients.each { |client| ask_at_gate(client) }
    @clients.first.request("GET", "/gate")
    server.wait_for_output(/at the gate/)
    server.signal("HUP")
    eventually { workers(server).size == 2 }
    @clients.drop(1).each { |client| ask_at_gate(client) }
    open_gate
    assert_equal 200, @clients.first.read_response.status
    eventually { workers(server).size == 1 }
    @clients.each { |client| ask_at_gate(client) }
  end
end
