# frozen_string_literal: true

require "test_helper"

# Tests HeldPort: a port that is reserved for a test's server.
class HeldPortTest < Support::TestCase
  def test_a_server_can_bind_a_held_port
    { "127.0.0.1" => "127.0.0.1", "::" => "0.0.0.0" }.each do |held, bound|
      port = held_port(held)
      TCPServer.open(bound, port) { |server| assert_equal port, server.local_address.ip_port }
    end
  end

  def test_a_socket_without_so_reuseaddr_cannot_bind_a_held_port
    port = held_port("::")
    %w[127.0.0.1 ::].each do |host|
      address = Addrinfo.tcp(host, port)
      assert_raises(Errno::EADDRINUSE) { Socket.open(address.pfamily, :STREAM) { |socket| socket.bind(address) } }
    end
  end
end
