# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/process_tree"

# Some requests hang for ever on a server with request_timeout. The server still serves all other requests.
class ProcessHungTest < Support::TestCase
  include Support::OnceMore
  include ProcessTree

  APPLICATION = <<~RUBY
    run(lambda do |env|
      File.read("gate") if env["PATH_INFO"] == "/stuck"
      [200, {}, [Process.pid.to_s]]
    end)
  RUBY

  def start(*args, rackup: APPLICATION)
    make_gate
    start_bontebok(args: ["--request-timeout", "300ms", "--graceful-timeout", "10m", *args], rackup: rackup)
  end

  # Each worker has one thread. Each request to /stuck hangs in a different worker.
  def test_a_server_serves_although_more_requests_hang_than_it_has_workers
    %w[true false].each do |preload|
      server = start("-w", "2", "--preload", preload)
      6.times do
        assert_equal 504, server.get("/stuck").status
        3.times { assert_equal 200, server.get.status }
      end
      wait_for_workers(server, 2)
      assert_match(/info .* worker \d \(pid \d+\) has left: killed by SIGKILL/, server.output.text)
      server.stop
      File.unlink(gate)
    end
  end

  def test_the_other_threads_of_a_hung_worker_serve_until_a_new_worker_is_ready
    server = start("-w", "1", "-t", "2")
    former = wait_for_workers(server, 1)
    server.connect do |client|
      assert_equal 504, server.get("/stuck").status
      server.wait_for_output(/worker \(pid #{former.first}\) hangs in a request: it leaves/)
      client.request("GET", "/")
      assert_equal 200, client.read_response.status
    end
    wait_for_workers(server, 2)
    open_gate
    wait_for_workers(server, 1, without: former)
    refute_match(/killed/, server.output.text)
  end

  def test_the_log_names_the_limit_of_hung_workers
    server = start("-w", "1", "-t", "2")
    2.times do |count|
      assert_equal 504, server.get("/stuck").status
      server.wait_for_output(/(hangs in a request.*){#{count + 1}}/m)
      # The hung worker must be draining, so that another worker gets the next request.
      eventually { wait_for_workers(server, 2).any? { |pid| title(pid).include?("draining") } }
    end
    server.wait_for_output(/2 workers hang, 1 more than there must be: the next one is started when one of them has/)
    assert_equal 200, server.get.status
    open_gate
  end

  # The hung worker passes its other connections to the other workers before it is killed.
  def test_the_other_connections_of_a_hung_worker_are_passed_on
    server = start("-w", "2", "--min-body-rate", "0")
    with_connections(server, 12) do |clients|
      clients.each { |client| client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1") }
      assert_equal 504, server.get("/stuck").status
      assert_served(clients) { |client| client.write("2") }
      server.wait_for_output(/has left: killed by SIGKILL/)
      assert_served(clients) { |client| client.request("GET", "/") }
    end
  end

  # The slow request ends within graceful_timeout, so the worker exits without being killed.
  def test_a_hung_worker_exits_by_itself_if_its_request_ends
    server = start("-w", "1", "-t", "1", rackup: <<~RUBY)
      run(lambda do |env|
        sleep 0.5 if env["PATH_INFO"] == "/slow"
        [200, {}, [Process.pid.to_s]]
      end)
    RUBY
    former = wait_for_workers(server, 1)
    server.connect do |client|
      client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1")
      assert_equal 504, server.get("/slow").status
      server.wait_for_output(/worker \(pid #{former.first}\) has left/)
    end
    wait_for_workers(server, 1, without: former)
  end

  private

  def assert_served(clients, &ask)
    clients.each(&ask).each { |client| assert_equal 200, client.read_response.status }
  end

  def with_connections(server, count)
    clients = Array.new(count) { server.connect }
    yield clients
  ensure
    clients&.each(&:close)
  end
end
