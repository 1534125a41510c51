# frozen_string_literal: true

require "test_helper"
require_relative "../../support/notify_socket"
require_relative "../support/process_tree"
require_relative "../support/releases"

# The server tells a service manager (systemd with Type=notify) what it does, and its listeners survive in the service
# manager's store of descriptors. The test is the service manager.
class ServiceManagerTest < Support::TestCase
  include ProcessTree
  include Releases

  # Responds with the pid and the variables of the service manager.
  APP = <<~RUBY
    File.read("gate") if File.exist?("gate")
    run ->(_) { [200, {}, [[Process.pid, *ENV.keys.grep(/NOTIFY_SOCKET|WATCHDOG|LISTEN_/)].join(" ")]] }
  RUBY
  # Sets LISTEN_PID, as the service manager does after its fork.
  FOR_ITSELF = ["sh", "-c", "LISTEN_PID=$$; export LISTEN_PID; exec \"$@\"", "sh"].freeze

  def setup
    @manager = Support::NotifySocket.new(File.join(temp_dir, "notify")).follow
    rackup_file("config.ru", APP)
  end

  def teardown
    @manager.close
  end

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
    eventually(10, "the end of the reload") { @manager.states.last == "READY" }
    server.stop
  end

  def test_one_process_tells_each_signal
    server = start("-w", "0")
    wait_for_states("READY")
    %w[HUP USR1].each.with_index(1) do |signal, count|
      server.signal(signal)
      wait_for_states("READY", *%w[RELOADING READY] * count)
    end
    server.stop
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

  # The frozen workers have no request, so nothing else ends the freeze within the time of the test.
  def test_the_watchdog_gets_signs_of_life_while_a_master_and_a_worker_run
    long_form
    server = start("-w", "2", env: { "WATCHDOG_USEC" => "100000" })
    wait_for_states("READY")
    one, two = workers(server)
    stop_process(one)
    assert_signs_of_life
    stop_process(two)
    refute_signs_of_life
    Process.kill("CONT", one)
    assert_signs_of_life
    stop_process(master(server).pid)
    refute_signs_of_life
  ensure
    [one, two, (master(server)&.pid if server)].compact.each { |pid| Process.kill("CONT", pid) }
  end

  # With a low RLIMIT_FSIZE, the supervisor cannot see the workers of an executed master.
  def test_the_watchdog_gets_signs_of_life_while_a_master_has_workers_that_nobody_else_sees
    server = start("-w", "1", env: { "WATCHDOG_USEC" => "100000" }, rlimit_fsize: 40_000)
    wait_for_states("READY")
    server.signal("USR2")
    wait_for_states("READY", "RELOADING", "READY")
    server.wait_for_output(/ the generations share only the listeners: (?m:.*) master \(pid \d+\) has left/)
    assert_signs_of_life
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

  def long_form
    skip "in the long form" unless Support::Length::LONG
  end

  def start(*args, env: {}, **options)
    start_bontebok(args: args, env: { "NOTIFY_SOCKET" => @manager.path, **env }, **options)
  end

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

  # drop: the number of older messages.
  def wait_for(drop = 0, &)
    eventually(10, "a message", seen: -> { @manager.messages }) { @manager.messages.drop(drop).any?(&) }
  end

  def wait_for_states(*states)
    eventually(10, "the states #{states}", seen: -> { @manager.messages }) { @manager.states == states }
  end

  def status
    @manager.messages.filter_map { |fields| fields["STATUS"] }.last
  end

  def signs_of_life
    @manager.messages.count { |fields| fields.key?("WATCHDOG") }
  end

  def assert_signs_of_life
    before = signs_of_life
    eventually(10, "signs of life") { signs_of_life > before + 1 }
  end

  # No sign comes for ten times the interval.
  def refute_signs_of_life
    since = before = nil
    eventually(10, "the end of the signs of life") do
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      since = now if before != (before = signs_of_life)
      now - since > 0.5
    end
  end
end
