# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/service/service_manager"
require_relative "../../../support/notify_socket"

# Tests the messages to a service manager.
class ServiceManagerTest < Support::TestCase
  def setup
    @path = File.join(temp_dir, "notify")
  end

  def teardown
    @socket&.close
  end

  def test_a_message_has_a_line_for_each_field
    listen
    assert manager.tell(READY: 1, STATUS: "2 workers")
    assert_equal [{ "READY" => "1", "STATUS" => "2 workers" }], @socket.messages
  end

  def test_a_message_can_have_a_socket
    listen
    TCPServer.open("127.0.0.1", 0) do |server|
      assert manager.tell(FDSTORE: 1, FDNAME: "web", io: server)
      assert_equal server.local_address.ip_port, @socket.store.fetch("web").local_address.ip_port
    end
  end

  def test_an_abstract_address
    listen("@#{@path}")
    manager("@#{@path}").tell(READY: 1)
    assert_equal ["READY"], @socket.states
  end

  def test_the_variables_are_removed_and_kept_for_the_next_program
    env = { "NOTIFY_SOCKET" => @path, "WATCHDOG_USEC" => "10", "WATCHDOG_PID" => "1", "HOME" => "/" }
    manager = Bontebok::ServiceManager.take(env)
    assert_equal({ "HOME" => "/" }, env)
    assert_equal({ "NOTIFY_SOCKET" => @path, "WATCHDOG_USEC" => "10", "WATCHDOG_PID" => "1" }, manager.variables)
  end

  def test_without_a_service_manager_nothing_is_told
    ["", "vsock:2:1", "relative", "@", "/#{'x' * 200}", "/\xff\0"].each do |path|
      refute_predicate manager(path), :present?, path
      assert manager(path).tell(READY: 1), path
    end
    refute_predicate Bontebok::ServiceManager.take({}), :present?
  end

  def test_a_service_manager_that_is_gone_is_no_error
    assert manager.tell(READY: 1)
    listen.close
    assert manager.tell(READY: 1)
    TCPServer.new("127.0.0.1", 0).tap(&:close).then { |closed| assert manager.tell(FDSTORE: 1, io: closed) }
  end

  # The kernel's queue of the socket has a limit (net.unix.max_dgram_qlen).
  def test_a_full_queue_does_not_block
    listen
    sent = 0
    sent += 1 while manager.tell(STATUS: "x" * 10_000)
    assert_operator sent, :>, 0
    assert_equal sent, @socket.messages.size
    assert manager.tell(READY: 1)
  end

  def test_a_barrier_ends_when_the_messages_are_read
    listen
    barrier = manager.barrier
    assert_nil barrier.wait_readable(0)
    assert_equal [{ "BARRIER" => "1" }], @socket.messages
    assert_nil barrier.read_nonblock(1, exception: false)
    barrier.close
    @socket.close
    manager.barrier.then { |gone| assert_nil gone.tap(&:wait_readable).read(1) }
  end

  def test_the_watchdog_has_a_time
    assert_in_delta 2.5, manager("WATCHDOG_USEC" => "2500000").watchdog
    assert_in_delta 2.5, manager("WATCHDOG_USEC" => "2500000", "WATCHDOG_PID" => Process.pid.to_s).watchdog
    assert_nil manager("WATCHDOG_USEC" => "2500000", "WATCHDOG_PID" => "1").watchdog
    assert_nil manager.watchdog
    ["0", "-1", "x", ""].each { |text| assert_nil manager("WATCHDOG_USEC" => text).watchdog }
  end

  private

  def manager(path = @path, **variables)
    Bontebok::ServiceManager.take({ "NOTIFY_SOCKET" => path, **variables })
  end

  def listen(path = @path)
    @socket = Support::NotifySocket.new(path)
  end
end
