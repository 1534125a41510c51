# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Another program owns the listener, so the listener outlives the server. In these tests, the test's process owns the
# listener. test/interop tests real programs that own listeners.
class ProcessAdoptedTest < Support::TestCase
  include ProcessTree

  def setup
    @keeper = UNIXServer.new(@path = File.join(temp_dir, "app.sock"))
    rackup_file("config.ru", GATED_APP)
  end

  def teardown
    @keeper.close
  end

  def test_a_client_that_connects_while_no_server_runs_waits_for_the_next_server
    %w[0 1].each do |workers|
      start(workers).tap(&:stop)
      Support::Client.open("unix:#{@path}") do |client|
        client.request("GET", "/")
        start(workers)
        assert_equal 200, client.read_response.status
      end
    end
  end

  # The test does the same as the program start_server: it starts the next server, and then tells the former server to
  # stop.
  def test_two_servers_share_the_listener
    make_gate
    former = start("1")
    Support::Client.open("unix:#{@path}") do |client|
      client.request("GET", "/gate")
      former.wait_for_output(/at the gate/)
      successor = start("1")
      former.signal("TERM")
      former.wait_for_output(/stopping/)
      assert_includes workers(successor).map(&:to_s), successor.get.body
      open_gate
      assert_equal 200, client.read_response.status
    end
    assert_equal 0, former.wait.exitstatus
  end

  # The environment of the start names descriptors that the executed program does not have.
  def test_a_deploy_keeps_the_listener
    skip "in the long form" unless Support::Length::LONG

    %w[1 0].each do |workers|
      server = start(workers)
      server.wait_for_output(/ready in/)
      server.signal("USR2")
      server.wait_for_output(/g2 ready|(?:ready in.*){2}/m)
      assert_equal 200, server.get.status
      server.stop
    end
  end

  def test_the_file_of_the_listener_stays_however_the_server_ends
    start("1").stop("INT")
    start("0").stop
    server = start("1")
    Process.kill("KILL", server.pid)
    server.wait_for_group
    assert_path_exists @path
  end

  def test_an_adopted_address_is_not_opened_again
    server = start("0", "-l", "unix:#{@path}")
    assert_equal ["unix:#{@path}"], server.addresses.map(&:to_s)
    assert_match(/adopted from start_server \(app\)$/, server.output.text)
  end

  def test_a_descriptor_that_does_not_listen_fails_the_start
    assert_refused "start_server (80): descriptor 99 is not a listening TCP or unix socket",
                   "SERVER_STARTER_PORT" => "80=99"
  end

  def test_a_wrong_variable_of_a_former_program_fails_the_start
    number = "9" * 30
    assert_refused "BONTEBOK_CLIENT wants the descriptor of a command, not \"#{number}\"", "BONTEBOK_CLIENT" => number
    assert_refused "BONTEBOK_SUPERVISOR_STATE wants the state of a supervisor, not \"[]\"",
                   "BONTEBOK_SUPERVISOR_STATE" => "[]"
  end

  private

  def assert_refused(message, env)
    server = start_bontebok(ready: false, env: env)
    assert_equal 2, server.wait.exitstatus
    server.output.wait_for_end
    assert_equal "bontebok: #{message}\n", server.output.text
  end

  def start(workers, *args)
    number = @keeper.fileno
    start_bontebok(listen: nil, args: ["-w", workers, *args], env: { "SERVER_STARTER_PORT" => "app=#{number}" },
                   **{ number => number })
  end
end
