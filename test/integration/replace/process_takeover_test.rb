# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# The test does the same as the program start_server: it has the listener, starts the next server, and tells the former
# server to stop, although the next one still loads its application. test/interop tests the real program.
class ProcessTakeoverTest < Support::TestCase
  include ProcessTree

  # An application that logs "loading" and waits for #open_gate before it is loaded.
  SLOW_APP = "$stderr.puts 'loading'\nFile.read('gate')\n#{GATED_APP}".freeze

  # Some clients of these tests do not close their connections.
  SHORT = %w[--keepalive-drain 50ms].freeze

  def setup
    @keeper = UNIXServer.new(@path = File.join(temp_dir, "app.sock"))
    @clients = []
    make_gate
    File.mkfifo(File.join(temp_dir, "door"))
  end

  def teardown
    [*@clients, @keeper].each(&:close)
  end

  { "TERM" => %w[-w 1], "QUIT" => %w[-w 0], "HUP" => %w[-w 1 --signal-hup stop] }.each do |signal, args|
    define_method(:"test_a_server_serves_until_the_next_one_is_ready_after_#{signal}_with_#{args[1]}_workers") do
      long_form unless signal == "TERM"
      old = start(GATED_APP, *args, "--control", "none", "--ready-path", "/ready", "--keepalive-drain", "10m")
      newcomer = start(SLOW_APP, *args, "--control", "none")
      leave(old, newcomer, signal)
      assert_serves(old)
      Support::Client.open("unix:#{@path}") do |kept|
        assert_predicate kept.get, :keep_alive?
        open_gate
        newcomer.wait_for_output(/ ready in \d+ ms$/)
        old.wait_for_output(/ stopping$/)
        kept.request("GET", "/")
        refute_predicate kept.read_response, :keep_alive?
      end
      assert_equal 0, old.wait.exitstatus
      assert_equal [pid_of(newcomer)], Array.new(3) { ask }.uniq
    end
  end

  # The old server is told to stop before the next one has found its control socket.
  def test_the_next_server_gets_idle_connections
    { "1" => "0", "0" => "1" }.each do |workers, more|
      old = start(GATED_APP, "--control", "c", workers: workers)
      (kept = client("/")).read_response
      gated = temp_file("gated.rb", "File.read('gate')")
      newcomer = start(GATED_APP, "--control", "c", "-c", gated, workers: more, wait: nil)
      leave(old, newcomer)
      open_gate
      assert_equal 0, old.wait.exitstatus
      assert_equal pid_of(newcomer).to_s, kept.get.body
      newcomer.stop
    end
  end

  # The old server is busy with a long request. It must not accept connections that would wait for this request.
  def test_connections_in_the_queue_belong_to_the_next_server
    %w[0 1].each do |workers|
      old = start(GATED_APP, workers: workers)
      request_at_gate(old) do
        newcomer = start(GATED_APP.gsub("gate", "door"), workers: workers)
        busy = client("/door")
        newcomer.wait_for_output(/at the door/)
        queued = Array.new(3) { client("/") }
        old.signal("TERM")
        old.wait_for_output(/ stopping$/)
        File.write(File.join(temp_dir, "door"), "")
        assert_equal [pid_of(newcomer).to_s], [busy, *queued].map { |client| client.read_response.body }.uniq
        newcomer.stop
      end
      assert_equal 0, old.wait.exitstatus
    end
  end

  # start_server starts another server instead of the one that has ended.
  def test_if_the_next_server_ends_the_one_after_it_is_awaited
    old, newcomer = two_servers
    leave(old, newcomer)
    third = start(SLOW_APP)
    newcomer.stop("KILL")
    old.wait_for_output(/server #{third.pid} is starting/)
    assert_equal pid_of(old), ask
    open_gate
    assert_equal 0, old.wait.exitstatus
    assert_equal pid_of(third), ask
  end

  def test_if_the_next_server_ends_and_no_other_one_is_started_nothing_is_awaited
    long_form
    old, newcomer = two_servers
    leave(old, newcomer)
    newcomer.stop("KILL")
    assert_equal 0, old.wait.exitstatus
  end

  # The requests in hand are finished.
  def test_a_second_term_ends_the_wait
    long_form
    %w[0 1].each do |workers|
      old, newcomer = two_servers(workers)
      request_at_gate(old) do
        leave(old, newcomer)
        old.signal("TERM")
        old.wait_for_output(/ stopping$/)
        newcomer.stop("KILL")
      end
      assert_equal 0, old.wait.exitstatus
    end
  end

  # At a further HUP, start_server starts yet another server, and tells all former servers to stop.
  def test_a_term_that_comes_with_yet_another_server_does_not_end_the_wait
    long_form
    old, newcomer = two_servers
    leave(old, newcomer)
    third = start(SLOW_APP)
    [old, newcomer].each { |server| server.signal("TERM") }
    assert_equal 0, newcomer.wait.exitstatus
    old.wait_for_output(/server #{third.pid} is starting/)
    assert_equal pid_of(old), ask
    open_gate
    assert_equal 0, old.wait.exitstatus
    assert_equal pid_of(third), ask
  end

  def test_int_ends_the_wait
    long_form
    %w[0 1].each do |workers|
      old, newcomer = two_servers(workers)
      leave(old, newcomer)
      assert_equal 0, old.stop("INT").exitstatus
      newcomer.stop("KILL")
    end
  end

  # start_server itself stops.
  def test_a_server_without_a_newer_one_stops_at_once
    long_form
    servers = Array.new(2) { start(GATED_APP) }
    servers.reverse_each do |server|
      assert_equal 0, server.stop.exitstatus
      refute_match(/is starting/, server.output.text)
    end
  end

  # The newer one loads its application as well.
  def test_a_server_that_is_not_ready_stops_at_once
    long_form
    servers = Array.new(2) { start(SLOW_APP) }
    assert_equal 0, servers.first.stop.exitstatus
  end

  private

  def long_form
    skip "in the long form" unless Support::Length::LONG
  end

  def start(rackup, *args, workers: "1", wait: rackup == SLOW_APP ? /^loading$/ : / ready in \d+ ms$/)
    number = @keeper.fileno
    start_bontebok(listen: nil, args: ["-w", workers, *SHORT, *args], rackup: rackup, ready: false, number => number,
                   env: { "SERVER_STARTER_PORT" => "app=#{number}" }).tap do |server|
      server.wait_for_output(wait) if wait
    end
  end

  def two_servers(workers = "1")
    [start(GATED_APP, workers: workers), start(SLOW_APP, workers: workers)]
  end

  def leave(old, newcomer, signal = "TERM")
    old.signal(signal)
    old.wait_for_output(/server #{newcomer.pid} is starting: this server serves until the other one is ready$/)
  end

  # Health checks do not notice that the server waits.
  def assert_serves(server)
    assert_equal pid_of(server), ask
    Support::Client.open("unix:#{@path}") { |client| assert_equal 200, client.get("/ready").status }
  end

  def pid_of(server)
    workers(server).first || server.pid
  end

  def client(target)
    @clients.push(Support::Client.open("unix:#{@path}")).last.tap { |client| client.request("GET", target) }
  end

  def ask
    Support::Client.body_from("unix:#{@path}").to_i
  end
end
