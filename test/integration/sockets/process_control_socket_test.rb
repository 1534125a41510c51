# frozen_string_literal: true

require "json"
require "socket"
require "test_helper"
require_relative "../support/control_case"

# Who may use the control socket, and what the server does with wrong requests.
class ControlSocketTest < Support::TestCase
  include ControlCase

  CANARY = "a canary needs a number of workers, a time of at most a year and 0 % to 100 % of errors"
  STATUS = "{\"version\":1,\"command\":\"status\"}\n"

  def test_silent_clients_do_not_keep_others_out
    start
    silent = Array.new(40) { UNIXSocket.new(control) }
    assert_equal "serving", status["state"]
  ensure
    silent&.each(&:close)
  end

  # As many clients as the queue of the socket can hold are not refused while the server is busy.
  def test_many_clients_can_wait_for_a_busy_server
    server = start
    server.signal("STOP")
    commands = Array.new(60) { UNIXSocket.new(control).tap { |socket| socket.write(STATUS) } }
    server.signal("CONT")
    commands.each { |socket| assert_equal 0, JSON.parse(socket.read)["status"] }
  ensure
    commands&.each(&:close)
  end

  def test_a_client_that_never_reads_delays_nobody
    start
    deaf = Array.new(40) { UNIXSocket.new(control).tap { |socket| socket.write(STATUS) } }
    assert_equal "serving", status["state"]
  ensure
    deaf&.each(&:close)
  end

  def test_a_second_server_does_not_take_the_socket
    server = start
    second = start_second(server)
    second.stop
    assert_equal server.pid, status["pid"]
  end

  # A server can start while the former one still stops.
  def test_a_second_server_takes_the_socket_when_the_first_has_ended
    %w[1 0].each do |workers|
      server = start
      second = start_second(server, "-w", workers)
      assert_equal 0, server.stop.exitstatus
      second.wait_for_output(/takes commands at #{control}/)
      assert_equal second.pid, status["pid"]
      second.stop
    end
  end

  # The name of the link `current` stays, so a command in the next release finds the server.
  def test_without_a_directory_tmp_a_command_finds_the_server
    env = { "RUNTIME_DIRECTORY" => FileUtils.mkdir("#{temp_dir}/run").first }
    server = start_current("-w", "1", env: env)
    server.wait_for_output(%r{takes commands at #{temp_dir}/run/bontebok-\h{16}\.control$})
    release(2)
    assert_command 0, "generation 2 serves\n", "deploy", "--wait", control: [], env: env
    assert_serves 2, server
    assert_command 0, "the server stops\n", "stop", "--wait", control: [], env: env
    assert_empty Dir.children("#{temp_dir}/run")
  end

  def test_without_a_runtime_directory_a_command_finds_the_server
    env = { "XDG_RUNTIME_DIR" => nil }
    server = start_current("-w", "0", env: env)
    directory = "/tmp/bontebok-#{Process.euid}"
    server.wait_for_output(%r{takes commands at #{directory}/bontebok-\h{16}\.control$})
    assert_equal [0o40700, Process.euid], [File.stat(directory).mode, File.stat(directory).uid]
    assert_command 0, "the server stops\n", "stop", "--wait", control: [], env: env
    looked = "(/\\S+/bontebok-\\h{16}\\.control(, )?)+"
    assert_command 1, /\Abontebok: no server takes commands at #{looked}\n`--directory` names .*\n\z/, "status",
                   control: [], env: env
  end

  def test_only_the_user_of_the_server_may_connect
    skip "only root can become another user" unless Process.euid.zero?

    start
    assert_equal 0o600, File.stat(control).mode & 0o777
    File.chmod(0o755, temp_dir)
    File.chmod(0o777, control)
    command = start_process(*ruby_client, "status", "--control", control, chdir: "/", uid: 65_534)
    assert_equal 1, command.wait.exitstatus
    assert_equal "bontebok: the user 65534 may not control this server\n", command.output.text
  end

  def test_wrong_requests_get_an_error_and_the_server_serves
    server = start
    { "nothing\n" => "a message is a JSON object", "[1]\n" => "a message is a JSON object",
      "{\"version\":2,\"command\":\"stop\"}\n" => "version 1 of the messages is spoken here, not 2",
      "{\"version\":1,\"command\":\"sleep\"}\n" => "unknown command \"sleep\"",
      "{\"version\":1,\"command\":\"deploy\",\"canary\":\"x\",\"for\":1,\"max_errors\":0}\n" => CANARY,
      "{\"version\":1,\"command\":\"deploy\",\"canary\":1e999,\"for\":1,\"max_errors\":0}\n" => CANARY,
      "{\"version\":1,\"command\":\"deploy\",\"canary\":1}\n" => CANARY,
      "#{STATUS.chop.chop}#{' ' * 16_384}}\n" => "a request has at most 16384 bytes",
      "x" * 20_000 => "a request has at most 16384 bytes" }.each do |request, message|
      UNIXSocket.open(control) do |socket|
        socket.write(request)
        assert_equal({ "version" => 1, "status" => 2, "text" => message }, JSON.parse(socket.read))
      end
    end
    refute_match(/error/, server.output.text)
    UNIXSocket.open(control) { |silent| assert_serves(1, server) && silent.write("{") }
    assert_equal "serving", status["state"]
  end

  private

  # Starts a server that finds the control socket in use by the first one.
  def start_second(first, *args)
    second = start_bontebok(args: ["--control", control, "-w", "1", *args], rackup: GATED_APP, listen: :tcp)
    second.wait_for_output(/warn .* no commands are taken: .*in use by process #{first.pid}/)
    second
  end
end
