# frozen_string_literal: true

require "test_helper"
require "json"
require "socket"
require_relative "../../bench/support/build"

# The clients of bench/stream: if the server cannot do the work, the output names the reason.
class StreamClientTest < Support::TestCase
  STREAM = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
  UPGRADE = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"

  def setup
    super
    Bench::Build.compile_stream_client
  end

  def test_a_response_with_another_status
    assert_reason "HTTP/1.1 501 Nothing here", "sse", "HTTP/1.1 501 Nothing here\r\n\r\n"
    assert_reason "HTTP/1.1 200 OK", "websocket", STREAM
  end

  def test_a_stream_that_ends_at_once
    assert_reason "the server ends the stream", "sse", "#{STREAM}0\r\n\r\n"
  end

  def test_a_connection_that_is_closed
    assert_reason "the server closes the stream without a response", "sse", "", closes: true
    assert_reason "the server closes the stream", "sse", STREAM, closes: true
  end

  def test_a_stream_without_a_message
    assert_reason "no message comes", "sse", "#{STREAM}3\r\n: \n\r\n"
  end

  def test_a_message_that_does_not_come_back
    assert_reason "only 0 of 10 messages come back", "websocket", UPGRADE
  end

  private

  # The server sends the response to each of two clients.
  def assert_reason(reason, protocol, response, closes: false)
    server = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new { Array.new(2) { answer(server, response, closes) } }
    rate = protocol == "websocket" ? ["10"] : []
    client = Support::ChildProcess.run(Bench::Build.stream_client, protocol, server.addr[1].to_s, "/", "2", "1", *rate)
    assert_equal reason, JSON.parse(client.output.text.lines.last)["reason"]
    assert_equal 1, client.status.exitstatus
  ensure
    thread.kill.join
    server.close
  end

  # Returns the socket, so that it stays open. The client may have ended already.
  def answer(server, response, closes)
    socket = server.accept
    socket.readpartial(4096)
    socket.write(response)
    socket.close if closes
    socket
  rescue EOFError, SystemCallError
    socket
  end
end
