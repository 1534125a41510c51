# frozen_string_literal: true

require "test_helper"

# Tests the HTTP client of the tests against a scripted server. The client must read well-formed responses and reject
# malformed responses.
class ClientTest < Support::TestCase
  # Returns a client. The other end of its connection sends `bytes`, and closes the connection if `ending` is :close.
  def client_for(bytes, ending: :close)
    path = File.join(temp_dir, "peer.sock")
    listener = UNIXServer.new(path)
    client = Support::Client.new("unix:#{path}")
    peer = listener.accept
    peer.write(bytes)
    peer.close if ending == :close
    @open = [peer, listener, client.socket]
    client
  end

  def teardown
    @open&.each(&:close)
  end

  def test_a_connection_is_accepted_only_when_the_server_listens
    path = File.join(temp_dir, "peer.sock")
    refute Support::Client.accepted?("unix:#{path}")
    Socket.open(:UNIX, :STREAM) do |server|
      server.bind(Socket.pack_sockaddr_un(path))
      refute Support::Client.accepted?("unix:#{path}")
      server.listen(1)
      assert Support::Client.accepted?("unix:#{path}")
    end
  end

  def test_the_client_reads_a_body_by_its_length_and_leaves_the_rest
    client = client_for("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-A:  b c \r\n\r\nabcHTTP/1.1 204 No Content\r\n\r\n")
    first = client.read_response
    assert_equal [200, "OK", "abc", :length], first.to_h.values_at(:status, :reason, :body, :framing)
    assert_equal "b c", first["x-a"]
    second = client.read_response
    assert_equal [204, "", :none], second.to_h.values_at(:status, :body, :framing)
    assert_equal :eof, client.wait_for_end
  end

  def test_the_client_reads_chunks_and_trailers
    body = "3\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: u\r\n\r\n"
    response = client_for("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n#{body}").read_response
    assert_equal ["abc0123456789", :chunked, [%w[T u]]], response.to_h.values_at(:body, :framing, :trailers)
  end

  def test_the_client_reads_to_the_end_without_framing
    response = client_for("HTTP/1.0 200 OK\r\n\r\nall of it").read_response
    assert_equal ["all of it", :close], response.to_h.values_at(:body, :framing)
    refute_predicate response, :keep_alive?
  end

  def test_a_response_to_head_has_no_body
    response = client_for("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n").read_response(to: "HEAD")
    assert_equal "", response.body
  end

  def test_the_client_rejects_malformed_responses
    {
      "bare LF" => "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
      "status" => "HTTP/1.1 20 OK\r\n\r\n",
      "field name" => "HTTP/1.1 200 OK\r\nA B: c\r\n\r\n",
      "control byte" => "HTTP/1.1 200 OK\r\nA: \x01\r\n\r\n",
      "two lengths" => "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
      "both framings" => "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "chunk size" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
      "chunk end" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc0\r\n\r\n"
    }.each do |what, bytes|
      assert_raises(Support::ResponseReader::Malformed, what) { client_for(bytes).read_response }
    ensure
      teardown
      File.unlink(File.join(temp_dir, "peer.sock"))
    end
  end

  def test_an_early_end_is_reported_with_the_bytes_that_came
    error = assert_raises(Support::Client::Closed) do
      client_for("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab").read_response
    end
    assert_equal "ab", error.partial
  end

  def test_a_reset_is_distinguished_from_an_end
    client = client_for("", ending: :stay)
    client.write("unread")
    @open.first.close
    assert_equal :reset, client.wait_for_end
  end

  def test_the_client_waits_no_longer_than_its_deadline
    client = client_for("HTTP/1.1 200 OK\r\n", ending: :stay)
    started = Support::Deadline.now
    assert_raises(Support::Timeout) { client.read_response(0.05) }
    assert_operator Support::Deadline.now - started, :<, 5
    client.take
    assert client.quiet?(0.01)
  end
end
