# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/control/other_server"
require "bontebok/config/address"
require "bontebok/sockets/tcp_listener"

# Tests OtherServer: a new server asks a running one for its listeners. The test is the running server.
class OtherServerTest < Support::TestCase
  NOBODY = 65_534

  def setup
    @server = UNIXServer.new(path)
    @listeners = Array.new(2) { TCPServer.new("127.0.0.1", 0) }
  end

  def teardown
    [@server, *@listeners, @peer].compact.each(&:close)
  end

  def test_listeners_of_the_same_address_get_the_sockets
    other = find { |peer| pass(peer, *@listeners) }
    same, different = [@listeners.first.local_address.ip_port, 0].map { |port| listener(port) }
    assert_equal [same], other.provide([same, different])
    assert_equal @listeners.first.local_address.to_sockaddr, same.socket.local_address.to_sockaddr
    assert_predicate same.socket, :close_on_exec?
    assert_nil different.socket
  ensure
    [same, different].compact.each(&:close)
    other&.close
  end

  def test_the_connection_stays_until_the_new_server_stops
    other = find { |peer| pass(peer, @listeners.first) }
    other.provide([])
    assert_equal :wait_readable, @peer.read_nonblock(1, exception: false)
    other.release
    refute Bontebok::ControlMessage.parse(@peer.gets)["queue"]
    copy = other.instance_variable_get(:@connection).instance_variable_get(:@socket).dup
    2.times { other.leave }
    assert_nil @peer.read(1)
  ensure
    copy&.close
  end

  # The running server closes the connection when it stops.
  def test_a_server_with_the_same_addresses_shares_the_queue
    links = Bontebok::WorkerLinks.open
    other = find { |peer| pass(peer, *links.queue, queue: 3, addresses: ["127.0.0.1:1"]) }
    joined = other.join(["127.0.0.1:1"])
    other.release
    assert Bontebok::ControlMessage.parse(@peer.gets)["queue"]
    joined.queue[1].send("a message", 0)
    assert_equal "a message", links.queue.last.recv(100)
    assert_predicate other, :takes_over?
    other.leave
    assert_nil @peer.read(1)
    @peer.write(Bontebok::ControlMessage.line({ text: "this server continues" }))
    @peer.close
    assert_predicate other, :takes_over?
    refute_predicate other, :takes_over?
  ensure
    [links, joined, other].compact.each(&:close)
  end

  def test_a_server_with_other_addresses_or_another_layout_shares_no_queue
    links = Bontebok::WorkerLinks.open
    File.open("#{temp_dir}/other", "w+") do |file|
      { links.queue => ["127.0.0.1:2"], [file, *links.queue.drop(1)] => ["127.0.0.1:1"] }.each do |queue, addresses|
        other = find { |peer| pass(peer, *queue, queue: 3, addresses: addresses) }
        assert_nil other.join(["127.0.0.1:1"])
        refute_predicate other, :takes_over?
        other.close
      end
    end
  ensure
    links&.close
  end

  def test_a_server_that_gives_nothing
    assert_nil(find { |peer| peer.write(Bontebok::ControlMessage.line(status: 1, text: "no")) })
    assert_nil(find { |peer| peer.write("something else\n") })
    assert_nil find(&:close)
  end

  def test_no_server
    assert_nil Bontebok::OtherServer.find("#{temp_dir}/none")
    assert_nil Bontebok::OtherServer.find("/#{'long' * 40}")
    @server.close
    assert_nil Bontebok::OtherServer.find(path)
  end

  def test_a_server_that_does_not_respond
    assert_nil(find(seconds: 0.01) { |_| nil })
  end

  def test_a_server_of_another_user
    skip "needs root" unless Process.uid.zero?
    @server.close
    File.unlink(path)
    File.chmod(0o777, temp_dir)
    Process.euid = NOBODY
    @server = UNIXServer.new(path)
    Process.euid = 0
    assert_nil Bontebok::OtherServer.find(path)
  ensure
    Process.euid = 0 if Process.uid.zero?
  end

  private

  def path = "#{temp_dir}/control"

  # Yields the connection when the request has arrived.
  def find(**options)
    accepting = Thread.new do
      @peer&.close
      @peer = @server.accept
      yield @peer if @peer.gets.include?("listeners")
    end
    Bontebok::OtherServer.find(path, **options)
  ensure
    accepting.join
  end

  def pass(peer, *descriptors, **message)
    rights = Socket::AncillaryData.unix_rights(*descriptors)
    peer.sendmsg(Bontebok::ControlMessage.line({ text: "the listeners", **message }), 0, nil, rights)
  end

  def listener(port)
    address = Bontebok::Address.new(host: "127.0.0.1", port: port)
    Bontebok::TcpListener.for(address, backlog: 1, reuse_port: false).first
  end
end
