# frozen_string_literal: true

require "bontebok/config/address"
require "net/http"
require "socket"
require_relative "../support/embedded_case"

# Tests a Server in the test's process: addresses, options, several servers, and starts that fail.
class ServerTest < EmbeddedCase
  def test_an_address_is_part_of_a_url
    server = serve
    assert_match(/\A127\.0\.0\.1:[1-9]\d*\z/, server.addresses.first)
    assert_equal "ok", Net::HTTP.get(URI("http://#{server.addresses.first}/"))
    assert_predicate server, :running?
    assert_equal "#<Bontebok::Server #{server.addresses.first}>", server.inspect
  end

  def test_the_server_listens_on_several_addresses
    path = File.join(temp_dir, "s.sock")
    server = serve(listen: ["127.0.0.1:0", "unix:#{path}"]) { |env| [200, {}, [env["SERVER_PORT"]]] }
    port = server.addresses.first[/\d+\z/]
    assert_equal ["127.0.0.1:#{port}", "unix:#{path}"], server.addresses
    assert_equal([port, "80"], server.addresses.map { |address| Support::Client.body_from(address) })
    server.stop
    refute_path_exists path
  end

  def test_the_server_outlives_the_thread_that_starts_it
    server = server()
    Thread.new { server.start }.join
    assert_equal "ok", get(server).body
  end

  def test_a_second_start_does_nothing
    server = serve
    addresses = server.addresses
    assert_same server, server.start
    assert_equal addresses, server.addresses
  end

  def test_a_server_starts_again_after_a_stop
    server = serve
    former = server.addresses.first
    assert_equal [true, true], [server.stop, server.stop]
    assert_equal [false, []], [server.running?, server.addresses]
    assert_same server, server.join
    assert_refused former
    assert_equal "ok", get(server.start).body
  end

  def test_a_server_that_was_never_started_stops
    server = server()
    assert_equal [true, server, [], false], [server.stop, server.join, server.addresses, server.running?]
  end

  def test_the_numbers_of_a_server
    server = serve(threads: 2) { [200, {}, [Bontebok.stats.values_at(:running, :busy_threads, :busy).inspect]] }
    assert_equal "[2, 1, 1]", get(server).body
    assert_equal [2, Process.pid], [Bontebok.stats[:running], Bontebok.stats[:server][:pid]]
    server.stop
    assert_equal [], Bontebok.stats[:worker_status]
  end

  def test_two_servers_run_at_once
    first = serve { [200, {}, ["first"]] }
    second = serve { [200, {}, [get(first).body, " and second"]] }
    assert_equal "first and second", get(second).body
    first.stop
    assert_equal [500, true], [get(second).status, second.running?]
  end

  def test_each_thread_serves_a_request
    arrived = Queue.new
    both = Queue.new
    server = serve(threads: 2) { arrived.push(true) && both.pop && OK }
    in_a_request(server, arrived) do |first|
      in_a_request(server, arrived) do |second|
        2.times { both.push(true) }
        assert_equal [200, 200], [first.read_response.status, second.read_response.status]
      end
    end
  end

  def test_the_limits_of_a_worker_hold
    server = serve(max_body: 3, request_timeout_soft: "50ms") { |env| env["PATH_INFO"] == "/slow" ? sleep : OK }
    connect(server) do |client|
      client.request("POST", "/", {}, "four")
      assert_equal 413, client.read_response.status
    end
    assert_equal 504, get(server, "/slow").status
    eventually(seen: -> { log }) { messages(:error) == ["request_timeout_soft: GET /slow is here"] }
  end

  def test_the_environment_decides_whether_a_response_shows_the_exception
    shown, hidden = %w[development test].map do |environment|
      get(serve(environment: environment) { raise "secret" }).body
    end
    assert_match(/secret/, shown)
    assert_equal "500 Internal Server Error\n", hidden
  end

  def test_wrong_arguments_are_named
    { { max_workers: 2 } => "Bontebok::Server: max_workers has no effect: the server runs in the process of its caller",
      { thread: 2 } => "Bontebok::Server: unknown option thread. Did you mean threads?",
      { threads: 0 } => "Bontebok::Server: threads wants a whole number from 1 to 64, not 0",
      { listen: "x:y:z" } => "Bontebok::Server: listen wants #{Bontebok::Address::FORMS}, not \"x:y:z\"",
      { log: 3 } => "log: wants an IO, a Logger, an object with `call`, or nil, not Integer" }.each do |options, text|
      assert_equal text, assert_raises(ArgumentError) { server(**options) }.message
    end
    assert_raises(ArgumentError) { Bontebok::Server.new(nil) }
  end

  # The first address is free again after the failure.
  def test_a_failed_start_leaves_nothing_open
    taken = TCPServer.new("127.0.0.1", 0)
    free = held_port
    failed = server(listen: ["127.0.0.1:#{free}", "127.0.0.1:#{taken.local_address.ip_port}"])
    error = assert_raises(Bontebok::StartError) { failed.start }
    assert_match(/\Acannot listen on 127\.0\.0\.1:\d+: Address already in use by this process\z/, error.message)
    refute_predicate failed, :running?
    assert_equal "ok", get(serve(listen: "127.0.0.1:#{free}")).body
  ensure
    taken.close
  end

  def test_a_server_without_threads_does_not_listen
    port = held_port
    failed = server(listen: "127.0.0.1:#{port}")
    full = ->(*) { raise ThreadError, "no more threads" }
    error = Thread.stub(:new, full) { assert_raises(Bontebok::StartError) { failed.start } }
    assert_equal "cannot start the server: no more threads", error.message
    assert_refused "127.0.0.1:#{port}"
  end

  def test_files_that_cannot_be_used_fail_the_start
    { { spool_dir: "/dev/null" } => "spool_dir /dev/null cannot be written to: Not a directory",
      { access_log: "#{temp_dir}/none/log" } => "access_log #{temp_dir}/none/log: its directory does not exist" }
      .each do |options, text|
      assert_equal text, assert_raises(Bontebok::StartError) { server(**options).start }.message
    end
  end
end
