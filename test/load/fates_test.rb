# frozen_string_literal: true

require_relative "support"

# Tests that the tool counts each request once: as ok, refused, reset, short, timeout, status or local.
class FatesTest < LoadTest
  def test_complete_responses_are_ok
    responses = [
      ScriptedServer::OK,
      "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 204 No Content\r\n\r\n",
      "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nok\r\n0\r\nTrailer: 1\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n#{ScriptedServer::OK}"
    ]
    %i[tcp unix].each do |kind|
      server = serve(kind) do |connection|
        responses.each { |response| connection.read_request && connection.respond(response) }
      end
      result = measure("-n", responses.size, "-c", 1, server.url)
      assert_equal responses.size, result["ok"]
      assert_equal responses.size, server.requests.size
      assert_equal 1, server.connection_count
    end
  end

  def test_a_response_may_come_in_pieces
    server = serve do |connection|
      connection.read_request
      ScriptedServer::OK.each_char { |byte| connection.respond(byte) }
      connection.respond_to_all
    end
    assert_equal 2, measure("-n", 2, "-c", 1, server.url)["ok"]
  end

  def test_a_body_may_end_with_the_connection
    server = serve do |connection|
      connection.read_request
      connection.respond("HTTP/1.1 200 OK\r\n\r\n#{"x" * 200_000}")
    end
    assert_equal 5, measure("-n", 5, "-c", 2, server.url)["ok"]
    assert_equal 5, server.connection_count
  end

  def test_a_response_to_head_has_no_body
    server = serve { |connection| connection.respond_to_all("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n") }
    assert_equal 3, measure("-n", 3, "-c", 1, "-m", "HEAD", server.url)["ok"]
    assert_equal 1, server.connection_count
  end

  def test_a_connection_that_is_refused_counts_as_refused
    assert_errors({ refused: 20 }, measure("-n", 20, "-c", 3, refusing_url))
    assert_errors({ refused: 20 }, measure("-n", 20, "-c", 3, "unix:#{temp_dir}/none:/"))
    path = File.join(temp_dir, "stale")
    UNIXServer.new(path).close
    assert_errors({ refused: 20 }, measure("-n", 20, "-c", 3, "unix:#{path}:/"))
  end

  def test_a_connection_that_is_reset_counts_as_reset
    tcp = serve(:tcp) { |connection| connection.read_request && connection.reset }
    assert_errors({ reset: 6 }, measure("-n", 6, "-c", 2, tcp.url))
    unix = serve { |connection| connection.socket.recv(1) }
    assert_errors({ reset: 6 }, measure("-n", 6, "-c", 2, unix.url))
    midway = serve(:tcp) do |connection|
      connection.read_request
      connection.respond("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
      connection.reset
    end
    assert_errors({ reset: 1 }, measure("-n", 1, "-c", 1, midway.url))
  end

  def test_an_incomplete_response_counts_as_short
    ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"].each do |response|
      server = serve { |connection| connection.read_request && connection.respond(response) }
      assert_errors({ short: 4 }, measure("-n", 4, "-c", 2, server.url))
    end
  end

  def test_malformed_framing_counts_as_short
    ["SSH-2.0-OpenSSH\r\n", "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "#{ScriptedServer::OK}surplus"].each do |response|
      server = serve { |connection| connection.respond_to_all(response) }
      assert_errors({ short: 4 }, measure("-n", 4, "-c", 2, server.url))
      assert_equal 4, server.connection_count
    end
  end

  def test_a_request_without_a_response_counts_as_timeout
    server = serve { |connection| connection.read_request && connection.socket.read }
    assert_errors({ timeout: 4 }, measure("-n", 4, "-c", 2, "--timeout", 0.05, server.url))
    eventually { server.connection_count >= 4 } # the server can accept after the tool has ended
    assert_equal 4, server.connection_count
  end

  def test_an_error_status_counts_as_status
    server = serve { |connection| connection.respond_to_all("HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno") }
    result = measure("-n", 9, "-c", 2, server.url)
    assert_errors({ status: 9 }, result)
    assert_equal 0, result["requests_per_second"]
    assert_nil result["latency_us"]["p50"]
    assert_equal 2, server.connection_count
  end

  def test_a_lack_of_descriptors_counts_as_local
    server = serve(&:respond_to_all)
    result = measure("-n", 50, "-c", 50, server.url, rlimit_nofile: 20)
    assert_equal ["local"], result["errors"].reject { |_, count| count.zero? }.keys
    assert_equal server.requests.size, result["ok"]
  end

  def test_requests_of_one_run_may_have_different_fates
    responses = { 0 => ScriptedServer::OK, 1 => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 2 => "" }
    server = serve do |connection|
      connection.read_request
      connection.respond(responses[connection.number % 3])
    end
    result = measure("-n", 30, "-c", 1, "--close", server.url)
    assert_errors({ status: 10, short: 10 }, result)
    assert_equal 30, server.requests.size
  end
end
