# frozen_string_literal: true

require "socket"
require "test_helper"

# Standard streams that a service manager or a shell can give to a server: sockets, or nothing at all.
class StandardStreamsTest < Support::TestCase
  APP = <<~'RUBY'
    run(lambda do |env|
      $stdout.puts("to standard output")
      $stderr.puts("to standard error")
      env["rack.errors"].puts("to rack.errors")
      [200, {}, [$stdin.read.to_s, *[1, 2].map { |number| File.readlink("/proc/self/fd/#{number}") }.join(" ")]]
    end)
  RUBY

  # systemd's journal is a socket. A socket cannot be opened by its name.
  def test_a_log_may_be_a_standard_stream_that_is_a_socket
    reader, writer = UNIXSocket.pair
    args = %w[-w 1 --log /proc/self/fd/1 --access-log /dev/fd/1 --access-log-format %U]
    server = start_bontebok(ready: false, args: args, rackup: APP, out: writer)
    writer.close
    server.output.collect(:stdout, reader)
    server.wait_until_ready
    assert_equal 200, server.get("/seen").status
    server.wait_for_output(%r{^/seen$})
    assert_equal ["to rack.errors", "to standard error", "to standard output"], server.output.text.scan(/^to .*/).sort
  end

  # A file that is opened twice has two positions.
  def test_a_log_that_is_standard_output_replaces_none_of_its_bytes
    path = temp_file("log")
    server = start_bontebok(ready: false, args: %w[-w 1 --log /dev/stdout], rackup: APP, out: [path, "w"])
    eventually("the start") { File.read(path).match?(/ ready in/) }
    socket = Support::Address.new("unix:#{temp_dir}/bontebok.sock")
    2.times { assert_equal 200, request(socket).status }
    assert_predicate server.stop, :success?
    said = "(^to standard output\nto standard error\nto rack\\.errors\n)"
    assert_match(/\A\S+Z info .*#{said}{2}.* stopped\n\z/m, File.read(path))
  end

  # A write of the application or the configuration file must not fail, and no file or socket may get a number below 3.
  def test_a_server_that_is_started_without_standard_streams_serves
    args = ["-w", "1", "-c", temp_file("prints.rb", "puts 'out'\n$stderr.puts 'err'\n")]
    { "0<&- 1>&- 2>&-" => "/dev/null /dev/null", "1>&-" => "/dev/null pipe:" }.each do |closed, streams|
      shell = ["sh", "-c", "exec \"$@\" #{closed}", "sh"]
      server = start_bontebok(ready: false, args: args, rackup: APP, under: shell)
      address = Support::Address.new("unix:#{temp_dir}/bontebok.sock")
      eventually("the server to listen") { listens?(address) }
      response = request(address)
      assert_equal [200, streams], [response.status, response.body[0, streams.size]]
      assert_predicate server.stop, :success?
    end
  end

  private

  # The file of the socket exists before the server listens.
  def listens?(address)
    address.connect.close
    true
  rescue Errno::ENOENT, Errno::ECONNREFUSED
    false
  end

  def request(address)
    Support::Client.open(address) do |client|
      client.request("GET", "/", { "Connection" => "close" })
      client.read_response
    end
  end
end
