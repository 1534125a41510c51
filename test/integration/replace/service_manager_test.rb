# frozen_string_literal: true

require "test_helper"
require_relative "../support/releases"
require_relative "../support/service_case"

# The server tells a service manager (systemd with Type=notify) what it does, and its listeners survive in the service
# manager's store of descriptors. The test is the service manager.
class ServiceManagerTest < Support::TestCase
  include Releases
  include ServiceCase

  # Sets LISTEN_PID, as the service manager does after its fork.
  FOR_ITSELF = ["sh", "-c", "LISTEN_PID=$$; export LISTEN_PID; exec \"$@\"", "sh"].freeze

  def test_the_server_tells_when_it_is_ready_and_when_it_stops
    make_gate
    server = start("-w", "1", ready: false)
    wait_for { |fields| fields["STATUS"] == "starting: the application is loaded" }
    wait_for { |fields| fields["EXTEND_TIMEOUT_USEC"] == "15000000" }
    assert_empty @manager.states
    open_gate
    wait_for_states("READY")
    assert_equal "generation 1 serves with 1 worker", status
    assert_equal workers(server).first.to_s, server.get.body
    assert_equal 1, @manager.store.size
    server.stop
    assert_equal %w[READY STOPPING], @manager.states
    assert_empty @manager.store
  end

  def test_the_server_tells_when_workers_and_code_are_replaced
    long_form
    server = start("-w", "2")
    wait_for_states("READY")
    former = workers(server)
    server.signal("HUP")
    wait_for_states("READY", "RELOADING", "READY")
    refute_includes former.map(&:to_s), server.get.body
    server.signal("USR2")
    wait_for_states(*%w[READY RELOADING] * 2, "READY")
    assert_equal "generation 2 serves with 2 workers", status
    assert_match(/\A\d+\z/, server.get.body)
    rackup_file("config.ru", "raise 'bad code'")
    server.signal("USR2")
    wait_for_states(*%w[READY RELOADING] * 3, "READY")
    assert_equal "generation 2 serves with 2 workers", status
    assert_equal 0, server.stop.exitstatus
  end

  # With Type=notify-reload, systemd waits until each of its signals is answered.
  def test_each_signal_is_a_reload
    server = start("-w", "1", "--signal-hup", "deploy")
    wait_for_states("READY")
    make_gate
    server.signal("HUP")
    wait_for_states("READY", "RELOADING")
    server.signal("USR1")
    wait_for_states("READY", "RELOADING", "RELOADING")
    open_gate
    eventually("the end of the reload") { @manager.states.last == "READY" }
    assert_predicate server.stop, :success?
  end

  def test_one_process_tells_each_signal
    server = start("-w", "0")
    wait_for_states("READY")
    %w[HUP USR1].each.with_index(1) do |signal, count|
      server.signal(signal)
      wait_for_states("READY", *%w[RELOADING READY] * count)
    end
    assert_predicate server.stop, :success?
  end

  def test_one_process_tells_the_same
    long_form
    server = start("-w", "0", "--restart-file", "restart", env: { "WATCHDOG_USEC" => "1000000" })
    wait_for_states("READY")
    server.signal("USR2")
    wait_for_states("READY", "RELOADING", "READY")
    assert_equal server.pid.to_s, server.get.body
    told = @manager.messages.size
    wait_for(told) { |fields| fields.key?("WATCHDOG") }
    server.stop
    assert_equal "STOPPING", @manager.states.last
    assert_empty @manager.store
  end

  # The clients connect while no server runs.
  def test_clients_wait_for_the_next_server_after_the_supervisor_was_killed
    long_form
    %w[2 2 0].each_with_index do |count, index|
      first = start("-w", count, "-l", "127.0.0.1:0", "-l", "unix:#{temp_dir}/dropped.sock")
      wait_for_states("READY")
      deploy(first) if index == 1
      kill_supervisor(first)
      clients = first.addresses.first(2).map { |address| Support::Client.open(address) }
      clients.each { |client| client.request("GET", "/") }
      second = start_again("-w", count, "-l", "127.0.0.1:0")
      clients.each { |client| assert_equal 200, client.read_response.status }
      assert_takes_all_but_last(first, second)
    ensure
      clients.to_a.each(&:close)
    end
  end

  private

  # As systemd does: the stored descriptors have the numbers from 3 on.
  def start_again(*args)
    names, sockets = @manager.store.to_a.transpose
    descriptors = sockets.each_with_index.to_h { |socket, index| [3 + index, socket] }
    env = { "LISTEN_FDS" => names.size.to_s, "LISTEN_FDNAMES" => names.join(":") }
    start(*args, env: env, under: FOR_ITSELF, **descriptors)
  end

  # With workers, the orphaned workers finish their requests.
  def kill_supervisor(server)
    Process.kill("KILL", server.pid)
    server.wait_for_group
  end

  def assert_takes_all_but_last(first, second)
    assert_equal first.addresses.first(2).map(&:to_s), second.addresses.map(&:to_s)
    refute_path_exists "#{temp_dir}/dropped.sock"
    assert_equal 2, @manager.store.size
    second.stop
    assert_empty @manager.store
    assert_empty Dir["#{temp_dir}/*.sock"]
    @manager.forget
  end

  def status
    @manager.messages.filter_map { |fields| fields["STATUS"] }.last
  end
end
