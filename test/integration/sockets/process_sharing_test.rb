# frozen_string_literal: true

require "test_helper"
require_relative "../support/sharing_servers"

# Two servers with reuse_port have the same control socket. The newer one gets copies of the older one's TCP listeners,
# and takes over the path of the control socket.
class ProcessSharingTest < Support::TestCase
  include SharingServers

  ANOTHER = /another server is starting: this server serves until the other one is ready$/

  def test_both_servers_have_one_listener
    old = start
    newcomer = start(old)
    assert_equal listeners(old), listeners(newcomer)
    assert_equal newcomer.pid, status["pid"]
    assert_equal 0, old.stop.exitstatus
    refute_match(/new connections/, old.output.text)
    assert_equal workers(newcomer), pids(old)
    assert_equal newcomer.pid, status["pid"]
    assert_equal 0, newcomer.stop.exitstatus
    refute_path_exists control
  end

  # The connections wait in the queue that both servers have.
  def test_queued_connections_go_to_the_other_server
    old = start
    newcomer = start(old)
    Process.kill("STOP", *workers(old), *workers(newcomer))
    clients = Array.new(8) { Support::Client.open(old.address).tap { |client| client.request("GET", "/") } }
    old.signal("TERM")
    old.wait_for_output(/ stopping$/)
    Process.kill("CONT", *workers(newcomer), *workers(old))
    assert_equal([200], clients.map { |client| client.read_response.status }.uniq)
    assert_equal 0, old.wait.exitstatus
  end

  def test_the_newcomer_can_leave_again
    old = start
    newcomer = start(old)
    assert_equal 0, newcomer.stop.exitstatus
    assert_equal workers(old), pids(old)
    assert_equal old.pid, status["pid"]
    assert_equal 0, old.stop.exitstatus
    refute_path_exists control
    refute_path_exists "#{control}.former"
  end

  def test_a_killed_newcomer
    old = start
    newcomer = start(old)
    former = workers(newcomer)
    newcomer.signal("KILL")
    newcomer.wait
    eventually { former.all? { |pid| gone?(pid) } }
    assert_equal workers(old), pids(old)
    assert_equal 0, old.stop.exitstatus
  end

  def test_a_deploy_keeps_the_shared_listener
    old = start
    newcomer = start(old)
    former = workers(newcomer)
    newcomer.signal("USR2")
    eventually { former.all? { |pid| gone?(pid) } }
    assert_equal listeners(old), listeners(newcomer)
    assert_equal 0, old.stop.exitstatus
    assert_equal workers(newcomer), pids(old)
  end

  def test_the_old_server_serves_until_the_newcomer_is_ready
    old = start
    newcomer = start_loading(old)
    old.signal("TERM")
    old.wait_for_output(ANOTHER)
    assert_equal workers(old), pids(old)
    File.write(gate, "")
    assert_equal 0, old.wait.exitstatus
    assert_equal workers(newcomer), pids(old)
  end

  # The new program would not wait for the newcomer.
  def test_the_supervisor_is_not_replaced_while_a_newcomer_starts
    old = start
    start_loading(old)
    result = command("deploy", "--supervisor")
    assert_equal 3, result.wait.exitstatus
    assert_match(/busy: another server starts beside this one/, result.output.text)
  end

  def test_the_old_server_stops_if_the_newcomer_ends
    old = start
    newcomer = start_loading(old)
    old.signal("TERM")
    old.wait_for_output(ANOTHER)
    newcomer.stop("KILL")
    assert_equal 0, old.wait.exitstatus
  end

  def test_the_old_server_serves_until_the_last_of_two_newcomers_is_ready
    old = start
    first, second = Array.new(2) { start_loading(old) }
    old.signal("TERM")
    old.wait_for_output(ANOTHER)
    first.stop("KILL")
    assert_equal workers(old), pids(old)
    File.write(gate, "")
    assert_equal 0, old.wait.exitstatus
    assert_equal workers(second), pids(second)
  end

  def test_the_old_server_stops_if_the_newcomer_is_not_ready_in_time
    old = start(nil, "--worker-boot-timeout", "1")
    start_loading(old)
    old.signal("TERM")
    assert_equal 0, old.wait.exitstatus
    assert_match(/the other server is not ready in time/, old.output.text)
  end

  # Another address is opened as usual.
  def test_addresses_that_only_one_server_has
    old = start(nil, "-l", "unix:#{temp_dir}/old.sock")
    newcomer = start(old, "-l", "unix:#{temp_dir}/new.sock", "-l", "127.0.0.1:0")
    assert_equal 2, (listeners(newcomer) | listeners(old)).size
    assert_equal 0, old.stop.exitstatus
    newcomer.addresses.each { |address| Support::Client.open(address) { |client| assert_equal 200, client.get.status } }
  end

  def test_a_server_without_reuse_port_gives_nothing
    first = start(nil, shared: %w[--keepalive-drain 50ms])
    second = start
    refute_match(/beside this one/, first.output.text)
    assert_match(/no commands are taken: .* in use/, second.output.text)
  end
end
