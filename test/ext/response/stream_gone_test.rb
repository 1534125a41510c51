# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/streaming"

# A client that leaves: its stream says so before a write, and wakes the thread that waits for the client.
class StreamGoneTest < Support::LaneCase
  include Support::Streaming

  DOCUMENT = File.expand_path("../../../docs/STREAMS.md", __dir__)

  UPGRADE = ["Connection: Upgrade", "Upgrade: x"].freeze
  RESPONSES = { stream: [200, {}], upgrade: [101, { "upgrade" => "x" }] }.freeze
  LARGE = "x" * 20_000_000

  RESPONSES.each_key do |kind|
    [true, false].each do |tcp|
      define_method(:"test_a_stream_without_a_write_is_closed_when_its_client_leaves_#{kind}_#{tcp ? :tcp : :unix}") do
        with_kept(kind, tcp: tcp) do |client, stream|
          refute_predicate stream, :closed?
          client.close
          eventually("closed?") { stream.closed? }
          stream.close
        end
      end
    end
  end

  # The one thread of the server is free when the loop has ended.
  def test_a_loop_in_call_ends_when_the_client_leaves
    server = serve(tcp: true) do |env|
      next OK if env["PATH_INFO"] == "/ok"

      [200, {}, lambda { |stream|
        stream << "x"
        Thread.pass until stream.closed?
        stream.close
      }]
    end
    server.connect do |client|
      client.request("GET", "/")
      client.read_line until client.read(1) == "x"
    end

    assert_equal "ok", server.get("/ok").body
  end

  def test_the_loop_of_the_documentation_ends_when_the_client_leaves
    code = File.read(DOCUMENT)[/^```ruby\n(NEWS.*?)^```/m, 1]
    app = Rack::Builder.new { instance_eval(code) }.to_app
    server = serve(->(env) { env["PATH_INFO"] == "/ok" ? OK : app.call(env) }, tcp: true)
    server.connect do |client|
      client.request("GET", "/")
      client.read_line
    end

    assert_equal "ok", server.get("/ok").body
  end

  # Over TCP, a client that has ended its sending looks as if it had left. The server still sends to this client.
  def test_a_client_that_has_ended_its_sending_gets_the_response
    with_kept(:stream, tcp: true) do |client, stream|
      client.finish_writing
      eventually("closed?") { stream.closed? }
      stream << "x"
      stream.close

      assert_equal "1\r\nx\r\n0\r\n\r\n", client.read(11)
    end
  end

  # The bytes that an application has not read yet are not lost in a loop until `closed?`.
  def test_an_upgrade_is_not_closed_before_its_last_byte_is_read
    with_kept(:upgrade, tcp: true) do |client, stream|
      client.write("last")
      client.finish_writing

      assert_equal "la", stream.readpartial(2)
      refute_predicate stream, :closed?
      assert_equal "st", stream.readpartial(9)
      eventually("closed?") { stream.closed? }
      stream.close
    end
  end

  WAITS = { write: ->(stream) { stream.write(LARGE) },
            flush: :flush.to_proc,
            readpartial: ->(stream) { stream.readpartial(1) },
            read: ->(stream) { stream.read(1) } }.freeze

  RESPONSES.keys.product([true, false], WAITS.keys).each do |kind, tcp, name|
    next if kind == :stream && name.start_with?("read") # it reads the request's body, which is complete

    define_method(:"test_a_wait_ends_when_the_client_leaves_#{kind}_#{tcp ? :tcp : :unix}_#{name}") do
      with_kept(kind, tcp: tcp) do |client, stream|
        filler = waiting { outcome_of { stream.write(LARGE) } } if name == :flush
        thread = waiting { outcome_of { WAITS[name].call(stream) } }
        client.close

        assert_includes [IOError, nil], thread.value
        filler&.join
        stream.close
      end
    end
  end

  private

  # Yields a client and the stream of its response. The request has ended. The client has read the head: its close is no
  # reset.
  def with_kept(kind, **options)
    kept = nil
    server = serve(**options) { [*RESPONSES[kind], ->(stream) { kept = stream }] }
    server.connect do |client|
      client.write(http(*(UPGRADE if kind == :upgrade)))
      await_stream(server)
      head = client.read_line until head == "\r\n"
      yield client, kept
    end
  end

  # Returns the value of the block, or IOError. A response is reset when a thread that waits leaves it.
  def outcome_of
    yield
  rescue IOError
    IOError
  end
end
