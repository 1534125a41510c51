# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/adopted_sockets"
require "bontebok/config/config"
require "bontebok/sockets/listeners"
require "bontebok/log/log"

# Tests sockets that another program has opened and passed to the server. The server serves these sockets and also its
# own addresses. It does not remove the files of these sockets.
class AdoptedListenerTest < Support::TestCase
  def setup
    @handed_over = []
    @log = File.open(File::NULL, "w")
  end

  def teardown
    @listeners&.close
    [*@handed_over, @log].each(&:close)
  end

  def test_no_default_address_is_opened_beside_adopted_sockets
    tcp = hand_over(TCPServer.new("127.0.0.1", 0))
    named = hand_over(UNIXServer.new(path = File.join(temp_dir, "a=1.sock")))
    abstract = hand_over(UNIXServer.new("\0bontebok-test-#{Process.pid}"))
    start
    assert_equal [tcp.connect_address.inspect_sockaddr, "unix:#{path}", "unix:@bontebok-test-#{Process.pid}"],
                 @listeners.map(&:to_s)
    assert_equal([["127.0.0.1", tcp.local_address.ip_port], ["localhost", 80], ["localhost", 80]],
                 @listeners.map { |listener| [listener.server_name, listener.server_port] })
    assert_equal 3, [tcp, named, abstract].map(&:closed?).count(false)
  end

  def test_an_ipv6_address_is_shown_in_brackets
    server = hand_over(TCPServer.new("::1", 0))
    start
    listener = @listeners.first
    assert_equal ["[::1]:#{server.local_address.ip_port}", "[::1]"], [listener.to_s, listener.server_name]
  end

  def test_a_configured_address_is_opened_unless_its_socket_was_adopted
    port = hand_over(TCPServer.new("127.0.0.1", 0)).local_address.ip_port
    hand_over(UNIXServer.new(path = File.join(temp_dir, "a.sock")))
    start("unix:#{temp_dir}/b.sock", "127.0.0.1:#{port}", "unix:#{path}", "127.0.0.1:0")
    assert_equal ["the test", "the test", nil, nil], @listeners.map(&:origin)
    assert_equal "unix:#{temp_dir}/b.sock", @listeners.to_a[2].to_s
  end

  # For a port without a host, systemd opens the IPv6 wildcard address, but Bontebok looks for the IPv4 wildcard
  # address.
  def test_a_wildcard_of_ipv6_serves_both_families_unless_it_is_v6_only
    { false => ["the test"], true => ["the test", nil] }.each do |v6_only, origins|
      socket = hand_over(socket_of_ipv6(v6_only: v6_only))
      start(socket.local_address.ip_port.to_s)
      assert_equal(origins, @listeners.map(&:origin))
      @handed_over.delete(socket).close
    end
  end

  def test_a_path_that_is_not_ascii_is_recognized
    hand_over(UNIXServer.new(path = File.join(temp_dir, "Käse.sock")))
    start("unix:#{path}")
    assert_equal [["the test", "unix:#{path}"]], names
  end

  # A relative path begins in the directory of the program that has opened the socket.
  def test_a_relative_path_is_the_servers_only_if_the_socket_is_there
    Dir.chdir(temp_dir) { hand_over(UNIXServer.new("a.sock")) }
    start("unix:a.sock")
    assert_equal [["the test", "unix:a.sock"], [nil, "unix:#{Dir.pwd}/a.sock"]], names
    Dir.chdir(temp_dir) { start("unix:a.sock") }
    assert_equal [["the test", "unix:#{File.realpath(temp_dir)}/a.sock"]], names
  end

  def test_an_adopted_file_may_have_another_name
    hand_over(UNIXServer.new(File.join(temp_dir, "a.sock")))
    File.symlink(".", File.join(temp_dir, "run"))
    start("unix:#{temp_dir}/run/a.sock")
    assert_equal [["the test", "unix:#{temp_dir}/a.sock"]], names
  end

  # systemd sets TCP_DEFER_ACCEPT (DeferAcceptSec=).
  def test_an_adopted_socket_gets_nodelay_and_keeps_its_other_options
    socket = hand_over(TCPServer.new("127.0.0.1", 0).tap { |one| one.setsockopt(:TCP, :DEFER_ACCEPT, 5) })
    start
    %i[NODELAY DEFER_ACCEPT].each { |name| assert_operator socket.getsockopt(:TCP, name).int, :>, 0, name }
    assert_predicate @listeners.first.socket, :close_on_exec?
  end

  # The field tcpi_sacked of a listener is its backlog.
  def test_an_adopted_socket_keeps_its_backlog_unless_backlog_is_set
    socket = hand_over(TCPServer.new("127.0.0.1", 0).tap { |server| server.listen(17) })
    start
    assert_equal 17, queue_length(socket)
    start(backlog: ["23"])
    assert_equal 23, queue_length(socket)
  end

  def test_the_file_of_an_adopted_socket_is_not_removed
    hand_over(UNIXServer.new(path = File.join(temp_dir, "a.sock")))
    start
    @listeners.take_note
    @listeners.take_over
    @listeners.close
    assert_path_exists path
    UNIXSocket.new(path).close
  end

  def test_a_descriptor_that_is_no_listening_stream_socket_is_rejected
    others = [Socket.new(:INET, :STREAM), UDPSocket.new, Socket.new(Socket::AF_NETLINK, :RAW), File.open(File::NULL)]
    others.each { |other| assert_refused(hand_over(other).fileno) }
    assert_refused(1_000_000)
  end

  # systemd can also open a socket for virtual machines (AF_VSOCK, family 40).
  def test_a_socket_of_another_family_is_rejected
    server = hand_over(TCPServer.new("127.0.0.1", 0))
    server.define_singleton_method(:local_address) { Addrinfo.new([40, *[0] * 14].pack("SC*")) }
    Socket.stub(:for_fd, server) { assert_refused(server.fileno) }
  end

  private

  def names
    @listeners.map { |listener| [listener.origin, listener.to_s] }
  end

  def hand_over(socket)
    @handed_over.push(socket).last
  end

  # Passes copies of the sockets to @listeners, because @listeners closes the sockets that it adopts. Some platforms set
  # PORT. PORT must not add another address.
  def start(*listen, **written)
    @listeners&.close
    entries = @handed_over.map { |socket| entry(socket.dup.tap { |copy| copy.autoclose = false }.fileno) }
    written[:listen] = listen unless listen.empty?
    config = Bontebok::Config.new(written, env: { "PORT" => "1" })
    @listeners = Bontebok::Listeners.of(config, log: Bontebok::Log.new(@log), adopted: entries)
    @listeners.bind
    @listeners.listen
  end

  def entry(fileno)
    Bontebok::AdoptedSockets::Entry.new(fileno, "the test")
  end

  def socket_of_ipv6(v6_only:)
    Socket.new(:INET6, :STREAM).tap do |socket|
      socket.setsockopt(:IPV6, :V6ONLY, v6_only)
      socket.setsockopt(:SOCKET, :REUSEADDR, true)
      socket.bind(Addrinfo.tcp("::", held_port("::")))
      socket.listen(5)
    end
  end

  def queue_length(socket)
    socket.getsockopt(:TCP, :INFO).data.unpack("C8L*")[8 + 5]
  end

  def assert_refused(fileno)
    error = assert_raises(Bontebok::StartError) do
      Bontebok::AdoptedListener.new(entry(fileno), backlog: nil)
    end
    assert_equal "the test: descriptor #{fileno} is not a listening TCP or unix socket", error.message
  end
end
