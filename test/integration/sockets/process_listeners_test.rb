# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# The addresses on which a server listens, and the files that are left after its end.
class ProcessListenersTest < Support::TestCase
  include ProcessTree

  def test_several_addresses_serve_the_same_application
    name = "unix:@bontebok-test-#{Process.pid}"
    path = "unix:#{temp_dir}/a.sock"
    listen = ["127.0.0.1:0", path, name, "[::1]:0"].flat_map { |address| ["-l", address] }
    server = start_bontebok(listen: nil, args: ["-w", "1", *listen], rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    assert_match(/127\.0\.0\.1:\d+ #{path} #{name} \[::1\]:\d+/, server.addresses.join(" "))
    server.addresses.each do |address|
      Support::Client.open(address) do |client|
        client.request("GET", "/")
        assert_equal workers(server).join, client.read_response.body, address.to_s
      end
    end
  end

  def test_a_request_without_host_gets_the_name_and_port_of_its_listener
    server = start_bontebok(listen: nil, args: ["-w", "1", "-l", "127.0.0.1:0", "-l", "unix:#{temp_dir}/a.sock"],
                            rackup: "run ->(env) { [200, {}, env.values_at('SERVER_NAME', 'SERVER_PORT')] }")
    server.wait_for_output(/ ready in \d+ ms$/)
    told = server.addresses.map do |address|
      Support::Client.open(address) do |client|
        client.write("GET / HTTP/1.0\r\n\r\n")
        client.read_response.body
      end
    end
    assert_equal ["127.0.0.1#{server.address.port}", "localhost80"], told
  end

  def test_no_client_can_connect_before_the_application_is_loaded
    make_gate
    server = start_bontebok(ready: false, args: ["-w", "1"],
                            rackup: "$stderr.puts 'loading'\nFile.read('gate')\n#{GATED_APP}")
    server.wait_for_output(/loading/)
    refute_path_exists socket_path
    open_gate
    server.wait_until_ready
    assert_equal 200, server.get.status
  end

  def test_an_address_in_use_fails_the_start_before_the_application_loads
    first = start_bontebok(listen: nil, args: ["-w", "1", "-l", "127.0.0.1:0", "-l", "unix:#{socket_path}"],
                           rackup: GATED_APP)
    [first.address, "unix:#{socket_path}"].each do |address|
      second = start_bontebok(ready: false, listen: nil, args: ["-w", "1", "-l", address.to_s], rackup: "warn :loading")
      assert_equal 1, second.wait.exitstatus
      assert_equal "bontebok: cannot listen on #{address}: Address already in use by #{named(first.pid)}\n",
                   second.output.text
    end
    assert_equal 200, first.get.status
  end

  def test_a_unix_socket_has_the_mode_of_the_option
    start_bontebok(args: ["-w", "0", "--socket-mode", "0600"], rackup: GATED_APP)
    assert_equal 0o600, File.stat(socket_path).mode & 0o777
  end

  def test_a_server_removes_its_unix_socket
    { "TERM" => "1", "INT" => "1", "QUIT" => "0" }.each do |signal, workers|
      server = start_bontebok(args: ["-w", workers], rackup: GATED_APP)
      assert File.socket?(socket_path)
      server.stop(signal)
      assert_equal ["config.ru"], Dir.children(temp_dir), signal
    end
  end

  def test_a_single_process_that_ends_by_itself_removes_its_unix_socket
    server = start_bontebok(args: ["-w", "0"], rackup: "run ->(_) { Thread.current.kill }\n")
    server.connect { |client| client.request("GET", "/") }
    server.wait
    assert_equal ["config.ru"], Dir.children(temp_dir)
  end

  def test_a_stale_unix_socket_is_replaced
    server = start_bontebok(args: ["-w", "1"], rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    server.kill
    assert_path_exists socket_path
    assert_equal 200, start_bontebok(args: ["-w", "1"]).get.status
  end

  def test_a_unix_socket_that_now_belongs_to_another_server_stays
    server = start_bontebok(args: ["-w", "1"], rackup: GATED_APP)
    File.unlink(socket_path)
    other = UNIXServer.new(socket_path)
    server.stop
    assert_path_exists socket_path
  ensure
    other&.close
  end

  # After the server has removed its file, the kernel may give the inode number to the file of another server. The
  # server must not remove that file. In this test, a hard link brings the same file back.
  def test_a_unix_socket_is_removed_once
    make_gate
    %w[0 1].each do |workers|
      server = start_bontebok(args: ["-w", workers], rackup: GATED_APP)
      File.link(socket_path, "#{socket_path}.spare")
      at_gate(server) do
        server.signal("TERM")
        server.wait_for_output(/stopping/)
        eventually { !File.exist?(socket_path) }
        File.rename("#{socket_path}.spare", socket_path)
        server.stop("INT")
      end
      assert File.socket?(socket_path), "with #{workers} workers"
    end
  end

  def test_a_server_finishes_its_requests_although_its_unix_socket_cannot_be_removed
    make_gate
    directory = File.join(temp_dir, "run").tap { |path| Dir.mkdir(path) }
    server = start_bontebok(listen: nil, args: ["-w", "1", "-l", "unix:#{directory}/a.sock"], rackup: GATED_APP)
    at_gate(server) do |client|
      File.rename(directory, "#{directory}.was")
      File.symlink(directory, directory)
      server.signal("TERM")
      server.wait_for_output(%r{ warn #{server.pid} \S+ \S+ cannot remove unix:#{directory}/a\.sock: Too many levels})
      open_gate
      assert_equal 200, client.read_response.status
    end
    assert_equal 0, server.wait.exitstatus
  end

  def test_a_server_that_is_killed_while_it_loads_leaves_no_file
    make_gate
    %w[0 1].each do |workers|
      server = start_bontebok(ready: false, args: ["-w", workers], rackup: "warn :loading\nFile.read('gate')\n")
      server.wait_for_output(/loading/)
      server.kill
      assert_equal ["config.ru", "gate"], Dir.children(temp_dir).sort
    end
  end

  def test_a_server_can_start_while_the_former_server_finishes
    make_gate
    former = start_bontebok(args: ["-w", "1"], rackup: GATED_APP)
    at_gate(former) do |client|
      former.signal("TERM")
      former.wait_for_output(/stopping/)
      assert_equal 200, start_bontebok(args: ["-w", "1"]).get.status
      open_gate
      assert_equal 200, client.read_response.status
    end
    assert_equal 0, former.wait.exitstatus
    assert_path_exists socket_path
  end

  def test_two_servers_can_listen_on_one_port_only_with_reuse_port
    first = start_bontebok(listen: :tcp, args: ["-w", "1", "--reuse-port"], rackup: GATED_APP)
    address = first.address.to_s
    second = start_bontebok(listen: nil, args: ["-w", "1", "--reuse-port", "-l", address])
    assert_equal address, second.address.to_s
    third = start_bontebok(ready: false, listen: nil, args: ["-w", "1", "-l", address])
    assert_equal 1, third.wait.exitstatus
  end

  private

  def socket_path
    File.join(temp_dir, "bontebok.sock")
  end
end
