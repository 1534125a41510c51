# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/control/control_connection"

# How long a command waits for a message. The server is the test.
class ControlConnectionTest < Support::TestCase
  SOON = 0.05

  def setup
    path = "#{temp_dir}/control"
    @server = UNIXServer.new(path)
    @connection = Bontebok::ControlConnection.new(path)
    @client = @server.accept
  end

  def teardown
    [@connection, @client, @server].each(&:close)
    super
  end

  def test_a_message_that_comes_in_parts
    @client.write('{"version":')
    sender = Thread.new { sleep(SOON) && @client.write("1,\"a\":2}\n{}") }
    assert_equal({ "version" => 1, "a" => 2 }, read(20))
    sender.join
  end

  def test_half_a_line_is_no_message
    refute_nil read
    @client.write('{"version":1')
    assert_equal [false], [read]
  end

  def test_a_server_that_closes_the_connection_has_no_message
    @client.write('{"version":1')
    @client.close
    assert_nil read
  end

  # A server that sends more is none.
  def test_what_has_arrived_is_found_without_time_while_a_signal_is_pending
    socket = @connection.instance_variable_get(:@socket)
    socket.define_singleton_method(:wait_readable) { |*| nil }
    assert_equal false, read(0)
    @client.write("{\"version\":1}\n")
    assert_equal({ "version" => 1 }, read(0))
    @client.close
    assert_nil read(0)
  end

  def test_a_line_without_an_end
    writer = Thread.new do
      @client.write("x" * (2 << 20))
    rescue Errno::EPIPE
      nil
    end
    assert_match(/sends something else/, assert_raises(Bontebok::StartError) { read(20) }.message)
    @connection.close
    writer.join
  end

  private

  def read(seconds = SOON) = @connection.read(Bontebok::Deadline.new(seconds))
end
