# frozen_string_literal: true

require "test_helper"
require_relative "support/handover_case"

# systemd-socket-activate opens listeners like a socket unit of systemd. It executes the server when the first client
# connects.
class SystemdTest < Interop::HandoverCase
  # Variables that the server needs. systemd-socket-activate passes them on only with -E.
  KEPT = ["RUBYLIB", *%w[GEM_HOME GEM_PATH].select { |name| ENV.key?(name) }].freeze

  def setup
    @path = File.join(temp_dir, "app.sock")
  end

  def test_the_server_adopts_both_sockets_and_serves_the_first_client
    %w[0 1].each do |workers|
      process = activate("-w", workers)
      assert_equal "localhost 80", first_response
      tcp, unix = addresses(process)
      assert_equal tcp.tr(":", " "), Support::Client.body_from(tcp)
      assert_equal "unix:#{@path}", unix
      assert_match(/listening on #{tcp}, adopted from systemd \(web\)$/, process.output.text)
      assert_equal 2, addresses(process).size
      assert_equal 0, process.stop.exitstatus
      assert_path_exists @path
      File.unlink(@path)
    end
  end

  def test_the_server_does_not_open_an_adopted_address_again
    process = activate("-w", "0", "-l", "unix:#{@path}", "-l", "unix:#{temp_dir}/own.sock")
    assert_equal "localhost 80", first_response
    assert_equal ["unix:#{@path}", "unix:#{temp_dir}/own.sock"], addresses(process).drop(1)
    process.stop
    assert_equal ["app.sock", "config.ru"], Dir.children(temp_dir).sort
  end

  def test_a_datagram_socket_is_rejected
    process = activate("-w", "0", options: ["--datagram"], listen: [@path])
    Socket.open(:UNIX, :DGRAM) { |socket| socket.send("x", 0, Socket.sockaddr_un(@path)) }
    assert_equal 2, process.wait.exitstatus
    assert_match(/^bontebok: systemd.*: descriptor 3 is not a listening TCP or unix socket$/, process.output.text)
  end

  private

  def activate(*args, options: ["--fdname=web:app"], listen: [free_address, @path])
    variables = KEPT.flat_map { |name| ["-E", name] }
    listeners = listen.flat_map { |address| ["-l", address] }
    start_under("systemd-socket-activate", *options, *variables, *listeners, args: args).tap do |process|
      process.wait_for_output(/Listening on #{@path}/)
    end
  end

  # Returns a loopback address that only this process uses, with a port that was free a moment ago.
  # systemd-socket-activate does not accept port 0.
  def free_address
    host = ["127", *[Process.pid].pack("N").bytes.last(3)].join(".")
    TCPServer.open(host, 0) { |server| server.local_address.inspect_sockaddr }
  end

  def first_response
    Support::Client.body_from("unix:#{@path}")
  end
end
