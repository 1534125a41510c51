# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/diag/inet_diag"

# Tests what the kernel says about real TCP sockets.
class InetDiagTest < Minitest::Test
  InetDiag = Bontebok::InetDiag

  def test_a_request_has_the_layout_of_the_kernel
    body = InetDiag.request(Addrinfo.tcp("127.0.0.1", 0x1234), InetDiag::LISTEN, 0x5678)
    assert_equal [Socket::AF_INET, Socket::IPPROTO_TCP, 0, 0, 1 << 10], body.unpack("CCCCL")
    assert_equal "\x12\x34\x56\x78".b, body.byteslice(8, 4)
    assert_equal "\0" * 44, body.byteslice(12..)
  end

  def test_a_socket_is_read_from_its_message
    id = [80, 4000].pack("nn") + [10, 0, 0, 1].pack("C4x12") + [10, 0, 0, 2].pack("C4x12") + [3, 0xabcd].pack("LQ")
    found = InetDiag.read([2, 10, 0, 0].pack("C4").concat(id, [1, 2, 3, 4, 5].pack("L5"), "attributes"))
    assert_equal [80, InetDiag.address(Addrinfo.tcp("10.0.0.1", 80)), InetDiag.address(Addrinfo.tcp("10.0.0.2", 4000)),
                  0xabcd, 2, 3, 5], found.to_a
  end

  # Another system, or a sandbox, may not have the interface.
  def test_a_system_without_the_interface_is_a_system_call_error
    Socket.stub(:const_defined?, false) do
      assert_raises(Errno::EAFNOSUPPORT) { InetDiag.sockets(Addrinfo.tcp("127.0.0.1", 1), InetDiag::LISTEN) }
    end
  end

  { "127.0.0.1" => "127.0.0.1", "::1" => "::1", "::" => "127.0.0.1" }.each do |host, client_host|
    define_method(:"test_the_kernel_shows_a_connection_of_#{client_host}_to_#{host}") do
      listening(host) do |listener|
        info = listener.local_address
        found = InetDiag.sockets(info, InetDiag::LISTEN)
        assert_equal([[InetDiag.address(info), cookie(listener)]], found.map { |one| [one.local, one.cookie] })
        Socket.tcp(client_host, info.ip_port) { |client| check_connection(listener, client) }
      end
    end
  end

  private

  # A listener on :: gets the connections of both families.
  def listening(host)
    info = Addrinfo.tcp(host, 0)
    Socket.open(info.pfamily, :STREAM) do |socket|
      socket.setsockopt(:IPV6, :V6ONLY, false) if info.ipv6?
      socket.bind(info)
      socket.listen(5)
      yield socket
    end
  end

  def check_connection(listener, client)
    port = client.local_address.ip_port
    found = -> { InetDiag.sockets(listener.local_address, InetDiag::ESTABLISHED, peer_port: port) }
    assert_equal [0], found.call.map(&:inode), "nobody has accepted it"
    accepted, = listener.accept
    assert_equal([[accepted.stat.ino, cookie(accepted)]], found.call.map { |one| [one.inode, one.cookie] })
  ensure
    accepted&.close
  end

  def cookie(socket)
    socket.getsockopt(:SOCKET, 57).data.unpack1("Q")
  end
end
