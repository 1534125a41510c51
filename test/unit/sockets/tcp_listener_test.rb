# frozen_string_literal: true

require "test_helper"
require_relative "../../support/listeners_case"

# Tests which sockets an address opens, and when its port is in use.
class TcpListenerTest < Support::ListenersCase
  def test_port_0_becomes_the_port_that_the_kernel_chose
    listener = listening("127.0.0.1:0").first
    assert_match(/\A127\.0\.0\.1:[1-9]\d*\z/, listener.to_s)
    assert_equal ["127.0.0.1", listener.to_s[/\d+\z/].to_i], [listener.server_name, listener.server_port]
    Support::Client.open(listener.to_s) { |client| assert client }
  end

  def test_an_ipv6_address_is_served
    listener = listening("[::1]:0").first
    assert_match(/\A\[::1\]:\d+\z/, listener.to_s)
    assert_equal "[::1]", listener.server_name
    Support::Client.open(listener.to_s) { |client| assert client }
  end

  def test_the_wildcard_of_ipv6_serves_both_families
    listener = listening("[::]:0").first
    assert_equal "localhost", listener.server_name
    ["127.0.0.1", "[::1]"].each do |host|
      Support::Client.open("#{host}:#{listener.server_port}") { |client| assert client }
    end
  end

  # Configuration files for other servers name both wildcards, in either order.
  def test_both_wildcards_are_served_on_one_port
    port = held_port("::")
    [["[::]:#{port}", port.to_s], [port.to_s, "[0::0]:#{port}"]].each do |addresses|
      both = listening(*addresses)
      assert_equal ["0.0.0.0:#{port}", "[::]:#{port}"], both.map(&:to_s).sort
      %w[127.0.0.1 [::1]].each { |host| Support::Client.open("#{host}:#{port}") { |client| assert client } }
      both.close
    end
    assert_equal(2, listening("[::]:0", "0.0.0.0:0").count)
  end

  def test_an_ipv4_address_in_the_form_of_ipv6_is_served
    listener = listening("[::ffff:127.0.0.1]:0").first
    Support::Client.open("127.0.0.1:#{listener.server_port}") { |client| assert client }
  end

  # /etc/hosts can have ::1 for localhost although the machine has no IPv6.
  def test_a_name_stands_only_for_addresses_that_this_machine_has
    known = %w[127.0.0.1 192.0.2.1].map { |address| Addrinfo.tcp(address, 0) }
    named = ->(host, *) { host == "name" ? known : raise(SocketError) }
    Addrinfo.stub(:getaddrinfo, ->(host, _, _, _, _, flag) { flag == 4 ? raise(SocketError) : named.call(host) }) do
      assert_equal ["127.0.0.1"], listening("name:0").map(&:server_name)
      known.shift
      assert_fails("cannot listen on name:0: Cannot assign requested address") { listeners("name:0").bind }
    end
  end

  def test_a_name_stands_for_all_its_addresses
    addresses = Addrinfo.getaddrinfo("localhost", 0, nil, :STREAM, nil, Socket::AI_ADDRCONFIG).map(&:ip_address).uniq
    assert_equal(addresses, listening("localhost:0").map { |listener| listener.server_name.delete("[]") })
  end

  def test_a_socket_has_nodelay_and_has_reuseport_only_if_configured
    socket = listening("127.0.0.1:0", reuse_port: ["true"]).first.socket
    assert_equal [1, 1], [socket.getsockopt(:TCP, :NODELAY).int, socket.getsockopt(:SOCKET, :REUSEPORT).int]
    assert_predicate socket, :close_on_exec?
    assert_equal 0, listening("127.0.0.1:0").first.socket.getsockopt(:SOCKET, :REUSEPORT).int
  end

  def test_bind_fails_if_the_port_is_in_use
    taken = listening("127.0.0.1:0").first.to_s
    assert_fails("cannot listen on #{taken}: Address already in use by this process") { listeners(taken).bind }
  end

  # While a server loads its application, the server's socket is bound but does not listen.
  def test_a_port_that_is_bound_is_in_use_before_it_listens
    first = listeners("127.0.0.1:0").tap(&:bind)
    address = first.first.to_s
    assert_fails("cannot listen on #{address}: Address already in use by this process") { listeners(address).bind }
    first.listen
    Support::Client.open(address) { |client| assert client }
  end

  # The connections that the former server has closed are in TIME_WAIT for a minute.
  def test_connections_of_a_former_server_do_not_keep_the_port
    address = leave_connections
    next_one = listeners(address).tap(&:bind)
    assert_fails("cannot listen on #{address}: Address already in use by this process") { listeners(address).bind }
    next_one.listen
    Support::Client.open(address) { |client| assert client }
  end

  def test_an_unknown_name_and_a_foreign_address_are_errors
    assert_fails(/\Acannot listen on name\.invalid:80: /) { listeners("name.invalid:80") }
    assert_fails("cannot listen on 192.0.2.1:80: Cannot assign requested address") { listeners("192.0.2.1:80").bind }
  end

  # An address that stands for all addresses takes the port from the others.
  def test_a_port_is_also_held_by_an_address_that_stands_for_all
    { "[::]:0" => "127.0.0.1", "0.0.0.0:0" => "127.0.0.1", "127.0.0.1:0" => "0.0.0.0" }.each do |first, host|
      port = listening(first).first.socket.local_address.ip_port
      assert_fails("cannot listen on #{host}:#{port}: Address already in use by this process") do
        listeners("#{host}:#{port}").bind
      end
    end
  end

  # The holder of an inherited socket is the process whose parent has no copy.
  def test_the_first_process_of_a_server_is_named
    listener = listening("127.0.0.1:0").first
    taken = listener.to_s
    IO.popen(["cat", { listener.socket => listener.socket }], "w") do |cat|
      assert_fails("cannot listen on #{taken}: Address already in use by this process") { listeners(taken).bind }
      listener.close
      assert_fails("cannot listen on #{taken}: Address already in use by #{named(cat.pid)}") { listeners(taken).bind }
    end
  end

  private

  # Opens and closes a listener, and leaves one of its connections in TIME_WAIT. Returns the listener's address.
  def leave_connections
    former = listening("127.0.0.1:0")
    listener = former.first
    Support::Client.open(listener.to_s) do |client|
      listener.socket.accept.first.close
      assert_empty client.read_to_end
    end
    former.close
    listener.to_s
  end
end
