# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/sockets/diag/accept_queues"

# Tests AcceptQueues with listeners that accept nothing.
class AcceptQueuesTest < Support::TestCase
  AcceptQueues = Bontebok::AcceptQueues

  def setup
    super
    @sockets = []
  end

  def teardown
    @sockets.each(&:close)
    super
  end

  { "127.0.0.1" => "127.0.0.1:%d", "::1" => "[::1]:%d", "::" => "[::]:%d", "0.0.0.0" => "0.0.0.0:%d" }
    .each do |host, form|
    define_method(:"test_the_queue_of_#{host}") do
      address = format(form, listen_tcp(host, 5))
      assert_queue address, 0, 5
      2.times { connect_tcp(host, @sockets.first.local_address.ip_port) }
      assert_queue address, 2, 5
      @sockets << @sockets.first.accept.first
      assert_queue address, 1, 5
    end
  end

  # Several servers, or several sockets of one.
  def test_the_queues_of_a_group_are_added
    port = listen_tcp("127.0.0.1", 5, reuse_port: true)
    listen_tcp("127.0.0.1", 7, port: port, reuse_port: true)
    6.times { connect_tcp("127.0.0.1", port) }
    assert_queue "127.0.0.1:#{port}", 6, 12
  end

  def test_a_listener_on_another_address_with_this_port_does_not_count
    port = listen_tcp("127.0.0.1", 5)
    listen_tcp("127.0.0.2", 7, port: port)
    assert_queue "127.0.0.1:#{port}", 0, 5
    assert_empty AcceptQueues.of(["0.0.0.0:#{port}", "[::]:#{port}", "127.0.0.3:#{port}"])
  end

  def test_the_queue_of_a_unix_socket
    path = File.join(temp_dir, "a b.sock")
    listen_unix(Addrinfo.unix(path), 5)
    2.times { @sockets << UNIXSocket.new(path) }
    assert_queue "unix:#{path}", 2, 5
  end

  # A server with reuse_port renames its file. Then the former server's socket has the same name for the kernel.
  def test_the_file_tells_which_socket_clients_reach
    path = File.join(temp_dir, "a.sock")
    [3, 4].each do |backlog|
      listen_unix(Addrinfo.unix("#{path}.next"), backlog)
      File.rename("#{path}.next", path)
    end
    @sockets << UNIXSocket.new(path)
    assert_queue "unix:#{path}", 1, 4
  end

  # The user may not look into the directory, or the file system shows another device.
  def test_without_the_file_the_name_counts
    path = File.join(temp_dir, "a.sock")
    listen_unix(Addrinfo.unix(path), 3)
    File.stub(:stat, ->(*) { raise Errno::EACCES }) { assert_queue "unix:#{path}", 0, 3 }
    File.unlink(path)
    assert_queue "unix:#{path}", 0, 3
  end

  def test_the_queue_of_an_abstract_name
    name = "bontebok-#{Process.pid}-queue"
    listen_unix(Socket.pack_sockaddr_un("\0#{name}"), 5)
    @sockets << Socket.new(:UNIX, :STREAM).tap { |client| client.connect(Socket.pack_sockaddr_un("\0#{name}")) }
    assert_queue "unix:@#{name}", 1, 5
    assert_empty AcceptQueues.of(["unix:@#{name}x", "unix:#{name}"])
  end

  def test_several_addresses_keep_their_order
    path = File.join(temp_dir, "a.sock")
    listen_unix(Addrinfo.unix(path), 3)
    tcp = "127.0.0.1:#{listen_tcp('127.0.0.1', 4)}"
    assert_equal([tcp, "unix:#{path}"], AcceptQueues.of([tcp, "unix:#{temp_dir}/none", "unix:#{path}", tcp])
                                                    .map { |queue| queue[:address] })
  end

  # The texts come from the supervisor's answer.
  def test_texts_that_are_no_addresses_are_left_out
    texts = ["", "localhost:80", "[localhost]:80", "127.0.0.1", "127.0.0.1:99999", "1.2.3:0", "[fe80::1%none0]:80",
             "[:::]:80", "unix:", "unix:@", "unix:a\0b", "\xff\xfe", "unix:\xff", "http://127.0.0.1:80",
             "999.0.0.1:80", "[127.0.0.1]:1"]
    assert_empty AcceptQueues.of(texts)
  end

  def test_without_the_interface_nothing_is_known
    path = File.join(temp_dir, "a.sock")
    listen_unix(Addrinfo.unix(path), 3)
    tcp = "127.0.0.1:#{listen_tcp('127.0.0.1', 4)}"
    Bontebok::SockDiag.stub(:dump, ->(*) { raise Errno::EACCES }) do
      assert_empty AcceptQueues.of(["unix:#{path}", tcp])
    end
  end

  private

  # The kernel puts a TCP connection into the queue shortly after connect(2).
  def assert_queue(address, length, limit)
    expected = [{ address: address, length: length, limit: limit }]
    eventually { AcceptQueues.of([address]) == expected }
    assert_equal expected, AcceptQueues.of([address])
  end

  # Returns the port.
  def listen_tcp(host, backlog, port: 0, reuse_port: false)
    info = Addrinfo.tcp(host, port)
    @sockets << (socket = Socket.new(info.pfamily, :STREAM))
    socket.setsockopt(:IPV6, :V6ONLY, true) if info.ipv6?
    socket.setsockopt(:SOCKET, :REUSEPORT, true) if reuse_port
    socket.bind(info)
    socket.listen(backlog)
    socket.local_address.ip_port
  end

  def connect_tcp(host, port)
    @sockets << Socket.tcp({ "0.0.0.0" => "127.0.0.1", "::" => "::1" }.fetch(host, host), port)
  end

  def listen_unix(place, backlog)
    @sockets << (socket = Socket.new(:UNIX, :STREAM))
    socket.bind(place)
    socket.listen(backlog)
  end
end
