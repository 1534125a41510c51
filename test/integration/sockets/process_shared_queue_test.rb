# frozen_string_literal: true

require "test_helper"
require_relative "../support/sharing_servers"

# Two servers with reuse_port have the same control socket. One of them stops, and the other one gets its idle
# connections and its paths.
class ProcessSharedQueueTest < Support::TestCase
  include SharingServers

  # The queue has the connections of all listeners.
  def test_the_newcomer_gets_idle_connections
    { "2" => "1", "0" => "0" }.each_with_index do |(workers, more), index|
      unix = ["-l", "unix:#{temp_dir}/#{index}.sock", "-w"]
      old = start(nil, *unix, workers)
      clients = old.addresses.product([1, 2]).map { |address, _| kept(address) }
      newcomer = start(old, *unix, more)
      assert_equal 0, old.stop.exitstatus
      clients.each { |client| assert_includes serving(newcomer), ask_again(client) }
      newcomer.stop
      clients.each(&:close)
    end
  end

  def test_the_old_server_gets_the_idle_connections_of_a_newcomer_that_leaves
    old = start(nil, "-l", "unix:#{temp_dir}/a.sock")
    newcomer = start(old, "-l", "unix:#{temp_dir}/a.sock")
    client = kept("unix:#{temp_dir}/a.sock")
    assert_equal 0, newcomer.stop.exitstatus
    assert_equal workers(old), [ask_again(client)]
    client.close
  end

  # The client would send a request that the other server cannot serve.
  def test_a_server_with_other_addresses_does_not_get_idle_connections
    old = start(nil, "--keepalive-drain", "10m")
    client = kept(old.address)
    start(old, "-l", "unix:#{temp_dir}/a.sock")
    old.signal("TERM")
    old.wait_for_output(/ stopping$/)
    client.request("GET", "/")
    refute_predicate client.read_response, :keep_alive?
    client.close
    assert_equal 0, old.wait.exitstatus
  end

  # A killed server leaves its files.
  def test_the_old_server_takes_its_paths_back_from_a_killed_newcomer
    %w[1 0].each_with_index do |number, index|
      path = "#{temp_dir}/#{index}.sock"
      old = start(nil, "-l", "unix:#{path}", "-w", number)
      newcomer = start(old, "-l", "unix:#{path}", "-w", number)
      newcomer.signal("KILL")
      newcomer.wait_for_group # its worker serves until it knows
      eventually { status["pid"] == old.pid }
      assert_includes serving(old), Support::Client.body_from("unix:#{path}").to_i
      third = start(old, "-l", "unix:#{path}", "-w", number)
      assert_equal listeners(old), listeners(third)
      [third, old].each { |server| assert_equal 0, server.stop.exitstatus }
      refute_path_exists path
    end
  end

  private

  def kept(address)
    Support::Client.open(address.to_s).tap { |client| assert_predicate client.get, :keep_alive? }
  end

  def ask_again(client)
    client.request("GET", "/")
    response = client.read_response
    assert_predicate response, :keep_alive?
    response.body.to_i
  end

  def serving(server) = workers(server).then { |pids| pids.empty? ? [server.pid] : pids }
end
