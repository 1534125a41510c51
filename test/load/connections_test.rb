# frozen_string_literal: true

require_relative "support"

# Tests the connections that bontebok-bench opens, and the requests that it sends.
class ConnectionsTest < LoadTest
  def test_the_tool_sends_exactly_n_requests
    %i[tcp unix].each do |kind|
      [[], ["--close"], ["-t", 3], ["--rate", 2000, "-t", 2]].each do |options|
        server = serve(kind, &:respond_to_all)
        result = measure("-n", 101, "-c", 7, *options, server.url)
        assert_equal 101, result["ok"], options
        assert_equal 101, server.requests.size, options
      end
    end
  end

  # The server sends no response until the seventh connection has sent its request.
  def test_connections_are_spread_over_the_threads
    all_there = Queue.new
    server = serve do |connection|
      connection.read_request
      connection.number == 6 ? all_there.close : all_there.pop
      connection.respond
    end
    assert_equal 7, measure("-n", 7, "-c", 7, "-t", 3, server.url)["ok"]
  end

  def test_close_opens_a_connection_for_each_request_and_sends_connection_close
    server = serve { |connection| connection.read_request && connection.respond && connection.socket.read }
    assert_equal 10, measure("-n", 10, "-c", 2, "--close", server.url)["ok"]
    assert_equal 10, server.connection_count
    assert(server.requests.all? { |request| request.include?("\r\nConnection: close\r\n") })
  end

  def test_close_to_loopback_uses_a_new_source_address_for_each_connection
    server = serve(:tcp) { |connection| connection.read_request && connection.respond }
    measure("-n", 10, "-c", 1, "--close", server.url)
    assert_equal (2..11).map { |last| "127.0.0.#{last}" }, server.sources
    kept = serve(:tcp, &:respond_to_all)
    measure("-n", 10, "-c", 1, kept.url)
    assert_equal ["127.0.0.1"], kept.sources
  end

  def test_a_response_that_announces_a_close_is_no_error
    ["HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
     "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"].each do |response|
      server = serve { |connection| connection.read_request && connection.respond(response) && connection.socket.read }
      assert_equal 10, measure("-n", 10, "-c", 2, server.url)["ok"]
      assert_equal 10, server.connection_count
    end
  end

  # The server closes the connection without "Connection: close", as after a keep-alive timeout. The tool is frozen
  # during the last response and the close, so it cannot send a request between them.
  def test_a_close_between_two_requests_is_no_error
    %i[tcp unix].each do |kind|
      started = Queue.new
      server = serve(kind) do |connection|
        connection.read_request && connection.respond
        connection.read_request && while_stopped(started) { connection.respond && connection.socket.close }
      end
      started << (tool = start_process(LoadTest::PROGRAM, "--json", "-n", "10", "-c", "1", server.url))
      assert_equal 0, tool.wait.exitstatus
      tool.output.wait_for_end
      assert_equal [10, 0], JSON.parse(tool.output.text(:stdout)).values_at("ok", "resent")
      assert_equal [10, 5], [server.requests.size, server.connection_count]
    end
  end

  # The tool counts the request as an error. Otherwise a server that loses every second request would look good.
  def test_a_request_that_the_server_has_read_is_not_sent_again
    { tcp: %w[GET POST], unix: %w[GET POST] }.each do |kind, methods|
      methods.each do |method|
        server = serve(kind) { |connection| connection.read_request && connection.respond && connection.read_request }
        result = measure("-n", 40, "-c", 1, "-m", method, server.url)
        assert_errors({ short: 20 }, result)
        assert_equal [40, 0], [server.requests.size, result["resent"]]
      end
    end
  end

  def test_a_request_whose_connection_is_reset_is_not_sent_again
    server = serve(:tcp) do |connection|
      connection.read_request && connection.respond && connection.read_request && connection.reset
    end
    result = measure("-n", 40, "-c", 4, server.url)
    assert_errors({ reset: 40 - result["ok"] }, result)
    assert_equal [40, 0], [server.requests.size, result["resent"]]
  end

  def test_a_request_whose_response_has_begun_is_not_sent_again
    server = serve do |connection|
      connection.respond if connection.read_request
      connection.respond("H") if connection.read_request
    end
    assert_errors({ short: 1 }, measure("-n", 2, "-c", 1, server.url))
    assert_equal 2, server.requests.size
  end

  def test_the_tool_replaces_an_idle_connection_that_the_server_has_closed
    server = serve { |connection| connection.read_request && connection.respond }
    process = bench("-n", 3, "-c", 1, "--rate", 2, server.url) # the server closes before the next request is due
    assert_match(/ok +3 /, process.output.text)
    refute_match(/sent again/, process.output.text)
    assert_equal 3, server.connection_count
  end

  # connect() to a unix socket fails with EAGAIN if the accept queue is full. No event reports when the queue has room
  # again.
  def test_the_tool_waits_for_a_full_accept_queue
    server = serve(:unix, backlog: 0, &:respond_to_all)
    assert_equal 200, measure("-n", 200, "-c", 50, "--close", server.url)["ok"]
    assert_equal 200, server.connection_count
  end

  # Another process has filled the accept queue. The tool must try again although none of its connections has an event.
  def test_the_tool_waits_for_an_accept_queue_that_another_process_fills
    path = File.join(temp_dir, "full")
    listener = UNIXServer.new(path).tap { |server| server.listen(0) }
    other = UNIXSocket.new(path)
    process = start_process(LoadTest::PROGRAM, "-n", "1", "-c", "1", "unix:#{path}:/")
    eventually { Dir.glob("/proc/#{process.pid}/fd/*").any? { |fd| File.socket?(fd) } }
    assert_nil listener.accept.close
    client = listener.accept
    client.write(ScriptedServer::OK) if client.gets("\r\n\r\n")
    assert_equal 0, process.wait.exitstatus
  ensure
    [listener, other, client].compact.each(&:close)
  end

  def test_a_request_has_the_given_parts
    body = temp_file("body", "a=1&b=2")
    server = serve(:tcp, &:respond_to_all)
    measure("-n", 1, "--body", body, "-m", "PUT", "-H", "A: 1", "-H", "Host: other", "#{server.url}a%20b?c")
    assert_equal ["PUT /a%20b?c HTTP/1.1\r\nA: 1\r\nHost: other\r\nContent-Length: 7\r\n\r\na=1&b=2"], server.requests
  end

  def test_a_body_larger_than_the_socket_buffer_is_sent
    body = temp_file("body", "x" * 3_000_000)
    %i[tcp unix].each do |kind|
      server = serve(kind, &:respond_to_all)
      assert_equal 4, measure("-n", 4, "-c", 2, "--body", body, server.url)["ok"]
      assert_equal [3_000_000], server.requests.map { |request| request[/\r\n\r\n(.*)/m, 1].size }.uniq
    end
  end

  def test_the_tool_sends_the_body_after_an_interim_response
    body = temp_file("body", "x" * 3_000_000)
    server = serve do |connection|
      connection.respond("HTTP/1.1 100 Continue\r\n\r\n")
      connection.respond_to_all
    end
    assert_equal 2, measure("-n", 2, "-c", 2, "--body", body, "-H", "Expect: 100-continue", server.url)["ok"]
  end

  # The tool must open a new connection: on the old connection, the server would read the rest of the body as a request.
  def test_a_response_may_come_before_the_body_was_sent
    body = temp_file("body", "x" * 3_000_000)
    server = serve do |connection|
      connection.socket.recv(1000)
      connection.respond("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
      connection.hold
    end
    assert_errors({ status: 4 }, measure("-n", 4, "-c", 2, "--body", body, server.url))
    assert_equal 4, server.connection_count
  end

  private

  # Pops the process from the queue, and freezes it with SIGSTOP while the block runs.
  def while_stopped(started)
    process = started.pop
    process.signal("STOP")
    eventually { Dir.glob("/proc/#{process.pid}/task/*/stat").all? { |path| File.read(path)[/\) (.)/, 1] == "T" } }
    yield
  ensure
    process.signal("CONT")
    started << process
  end
end
