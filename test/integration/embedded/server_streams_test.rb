# frozen_string_literal: true

require_relative "../support/embedded_case"

# Tests the stop of a Server while streams have outlived their requests, and while the application has sockets.
class ServerStreamsTest < EmbeddedCase
  def setup
    @streams = Queue.new
    @finished = Queue.new
  end

  def test_a_stop_waits_for_streams
    with_stream do |server, client, stream|
      stopping = Thread.new { server.stop }
      eventually { !server.running? }
      stream << "late"
      stream.close
      assert_equal ["late", true], [client.read_response.body, stopping.value]
      assert_nil @finished.pop
    end
  end

  def test_a_stop_resets_streams_after_its_time
    with_stream do |server, client, stream|
      refute server.stop(0.05)
      assert_equal :reset, client.wait_for_end
      assert_equal ["streams were not finished in time: 1"], messages(:error)
      assert_kind_of Bontebok::ClientGone, @finished.pop
      assert_predicate stream, :closed?
      assert_raises(IOError) { stream << "more" }
      assert_nil stream.close
    end
  end

  def test_a_second_stop_ends_the_wait_for_streams
    with_stream do |server, _client, _stream|
      patient = Thread.new { server.stop(1000) }
      eventually { log.any? { |entry| entry[1] == "stopping" } }
      refute server.stop(0)
      refute patient.value
    end
  end

  def test_a_thread_that_writes_to_a_slow_client_gets_an_exception
    with_stream do |server, client, stream|
      writer = Thread.new { assert_raises(IOError) { loop { stream << ("x" * 100_000) } } }
      eventually { writer.stop? }
      refute server.stop(0)
      client.wait_for_end
      assert writer.join(Support::Deadline::DEFAULT_SECONDS)
    end
  end

  def test_a_stop_does_not_wait_for_a_client_that_has_gone
    with_stream do |server, client, _stream|
      client.close
      assert server.stop(1000)
      assert_kind_of Bontebok::ClientGone, @finished.pop
    end
  end

  def test_a_server_starts_again_while_streams_of_its_former_run_go_on
    with_stream do |server, client, stream|
      stopping = Thread.new { server.stop }
      eventually { !server.running? }
      assert_equal "ok", get(server.start, "/ok").body
      stream.close
      assert stopping.value
      client.read_response
    end
  end

  def test_a_hijacked_socket_stays_open
    server = serve { |env| @streams.push(env["rack.hijack"].call) }
    connect(server) do |client|
      client.request("GET", "/")
      socket = @streams.pop
      assert server.stop(1000)
      socket.write("late")
      socket.close
      assert_equal "late", client.read_to_end
    end
  end

  private

  # Yields a server, its client and a stream whose request has ended.
  def with_stream
    server = serve { |env| env["PATH_INFO"] == "/ok" ? OK : respond(env) }
    connect(server) do |client|
      client.request("GET", "/")
      stream = @streams.pop
      assert_equal "ok", get(server, "/ok").body # the only thread is free
      yield server, client, stream
    end
  end

  def respond(env)
    env["rack.response_finished"] << ->(*, error) { @finished.push(error) }
    [200, {}, ->(stream) { @streams.push(stream) }]
  end
end
