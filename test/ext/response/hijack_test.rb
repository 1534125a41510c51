# frozen_string_literal: true

require "socket"
require_relative "../support/lane_case"
require_relative "../support/unbuffered"

# Full and partial hijack: the application gets the client's socket.
class HijackTest < Support::LaneCase
  def test_the_application_has_a_socket
    [{}, { tcp: true }].each do |options|
      sockets = Queue.new
      server = hijacking_server(sockets, **options)
      server.connect do |client|
        client.write(http("Upgrade: x", "Connection: upgrade", line: "GET /hijack HTTP/1.1", body: "behind"))
        socket = sockets.pop
        await_hijack(server)

        assert_kind_of options[:tcp] ? TCPSocket : UNIXSocket, socket
        assert_equal "behind", socket.read_nonblock(100)
        client.write("more")
        assert socket.wait_readable(60)
        assert_equal "more", socket.readpartial(100)
        socket << "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

        assert_equal "hi", client.read_response.body
        assert_equal "ok", server.get.body
        socket.close

        assert_equal :eof, client.wait_for_end
      end
    end
  end

  def test_the_socket_has_the_body_that_the_application_has_not_read
    seen = nil
    called = Queue.new
    server = serve(**Support::Unbuffered::UNBUFFERED) do |env|
      called << (input = env["rack.input"])
      first = input.readpartial(1)
      socket = env["rack.hijack"].call
      seen = [first, socket.read(5), assert_raises(IOError) { input.read }.class]
      socket.close
      [-1, {}, []]
    end
    server.connect do |client|
      client.write(Support::Unbuffered::LENGTH)
      called.pop
      client.write("abcdef")
      client.wait_for_end
    end
    await_hijack(server)

    assert_equal ["a", "bcdef", IOError], seen
  end

  def test_hijack_sets_the_env
    seen = nil
    server = serve do |env|
      io = env["rack.hijack"].call
      seen = [env["rack.hijack?"], io.equal?(env["rack.hijack_io"]), io.equal?(env["rack.hijack"].call)]
      io.close
      [-1, {}, []]
    end
    server.connect { |client| client.request("GET", "/") || client.wait_for_end }
    await_hijack(server)

    assert_equal [true, true, true], seen
  end

  def test_the_body_is_closed_and_the_callables_are_called_after_the_call
    calls = []
    body = Class.new { define_method(:close) { calls << :close } }.new
    server = serve do |env|
      env["rack.response_finished"] << ->(*) { calls << :finished }
      env["rack.hijack"].call.close
      [200, {}, body]
    end
    server.connect { |client| client.request("GET", "/") || client.wait_for_end }
    await_hijack(server)
    server.await_requests(1)
    server.stop

    assert_equal %i[close finished], calls
  end

  def test_hijack_after_the_head_raises
    server = serve do |env|
      [200, {}, Enumerator.new { |parts| (parts << "a") && env["rack.hijack"].call }]
    end

    assert_raises(Support::Client::Closed) { server.get }
    assert_match(/the response has begun/, server.next_report.error.message)
  end

  def test_another_thread_may_not_hijack
    server = serve do |env|
      Thread.new { env["rack.hijack"].call }.tap { |thread| thread.report_on_exception = false }.join
    end

    assert_equal 500, server.get.status
    assert_kind_of IOError, server.next_report.error
  end

  def test_partial_hijack
    server = serve { [200, { "x-a" => "b", "rack.hijack" => ->(io) { (io << "raw").close } }, []] }
    response = server.get
    await_hijack(server)

    assert_equal ["raw", "b", "close", nil],
                 [response.body, response["x-a"], response["connection"], response["transfer-encoding"]]
  end

  # The client does not take the head. A slow machine needs 0.2 s for the request itself.
  def test_a_thread_that_waits_to_hijack_uses_no_processor
    used = Queue.new
    server = serve(settings: { write_timeout: 1000 }) do |env|
      began = thread_seconds
      env["rack.response_finished"] << ->(*) { used << (thread_seconds - began) }
      [200, { "x-long" => "a" * (1 << 20), "rack.hijack" => lambda(&:close) }, []]
    end
    server.connect do |client|
      client.request("GET", "/")
      assert_operator Timeout.timeout(60) { used.pop }, :<, 0.5
    end
  end

  def test_rack_protocol
    seen = nil
    server = serve do |env|
      seen = env["rack.protocol"]
      [200, { "rack.protocol" => "b" }, ->(stream) { (stream << "raw").close }]
    end
    server.connect do |client|
      client.write(http("Connection: upgrade", "Upgrade: a, b", "Upgrade: c/1"))
      response = client.read_response

      assert_equal [101, "upgrade", "b"], [response.status, response["connection"], response["upgrade"]]
    end

    assert_equal %w[a b c/1], seen
    server.raw(http("Upgrade: a", "Connection: close"))

    assert_nil seen
  end

  def test_any_status_with_to_i_may_accept_a_protocol
    { "200" => 101, "101 Switching" => 101, 299.9 => 101, "404" => 404 }.each do |given, sent|
      server = serve { [given, { "rack.protocol" => "b" }, lambda(&:close)] }
      server.connect do |client|
        client.write(http("Connection: upgrade", "Upgrade: b"))

        assert_equal sent, client.read_response.status, given.inspect
      end
    end
  end

  private

  def thread_seconds = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

  def hijacking_server(sockets, **options)
    serve(**options) do |env|
      next OK unless env["PATH_INFO"] == "/hijack"

      sockets << env["rack.hijack"].call
      [-1, {}, []]
    end
  end

  def await_hijack(server)
    assert_equal :detached, server.next_report.level
  end
end
