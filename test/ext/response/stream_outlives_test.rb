# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/streaming"

# A stream that the application keeps after the body's `call` has returned.
class StreamOutlivesTest < Support::LaneCase
  include Support::Streaming

  UPGRADE = ["Connection: Upgrade", "Upgrade: echo"].freeze

  # The body of a response: keeps its stream, and counts its own closes.
  class Body
    attr_reader :stream, :closes

    def initialize
      @closes = 0
    end

    def call(stream)
      @stream = stream
    end

    def close
      @closes += 1
    end
  end

  def test_the_thread_is_free_and_another_thread_writes
    with_stream do |client, stream, server|
      assert_equal "ok", server.get.body
      2.times { |i| Thread.new { stream << "part #{i} " }.join }
      stream.close

      assert_equal "part 0 part 1 ", client.read_response.body
      client.request("GET", "/")

      assert_equal "ok", client.read_response.body
    end
  end

  def test_the_threads_of_a_broadcast_do_not_mix_their_parts
    with_stream do |client, stream|
      Array.new(4) { |i| Thread.new { 10.times { stream.write(i.to_s * 100_000) } } }.tap do |threads|
        Thread.new { threads.each(&:join) && stream.close }
      end

      assert_empty client.read_response.body.gsub(/(\d)\1{99999}/, "")
    end
  end

  def test_the_body_is_closed_and_the_callables_are_called_at_the_end_of_the_stream
    calls = Queue.new
    body = Body.new
    server = serve do |env|
      env["rack.response_finished"] << ->(*arguments) { calls << arguments }
      [200, { "x-a" => "b" }, body]
    end
    server.connect do |client|
      client.request("GET", "/")
      await_stream(server)

      assert_equal [0, 0], [body.closes, calls.size]
      body.stream.close
      client.read_response
    end
    env, *rest = calls.pop

    assert_equal [200, { "x-a" => "b" }, nil], rest
    assert_equal ["GET", 1, 0], [env["REQUEST_METHOD"], body.closes, calls.size]
  end

  def test_the_client_has_gone
    body = Body.new
    server = serve { [200, {}, body] }
    server.connect do |client|
      client.request("GET", "/")
      await_stream(server)

      refute_predicate body.stream, :closed?
    end

    assert_predicate body.stream, :closed?
    error = assert_raises(Bontebok::ClientGone) { 2.times { body.stream << "x" } }
    assert_kind_of IOError, error
    assert_nil body.stream.close
    assert_equal 1, body.closes
    assert_raises(IOError) { body.stream << "x" }
  end

  def test_a_dropped_stream_is_reset_and_its_body_is_closed
    closed = Queue.new
    body_class = Class.new do
      define_method(:call) { |stream| stream << "x" }
      define_method(:close) { closed << true }
    end
    server = serve { |env| env["PATH_INFO"] == "/" ? [200, {}, body_class.new] : dive(200) && OK }
    server.connect do |client|
      client.request("GET", "/")
      Thread.new { await_stream(server) }.join # this thread's stack must not refer to the stream
      Support::Eventually.eventually("the end of the stream") do
        server.get("/other")
        dive(200)
        GC.start
        closed.size == 1
      end

      assert_raises(Support::Client::Closed) { client.read_response }
    end
  end

  def test_a_frozen_stream
    body = Class.new(Body) { def call(stream) = super.freeze }.new
    server = serve { |env| env["PATH_INFO"] == "/" ? [200, {}, body].tap { env["rack.input"].freeze } : OK }
    server.connect do |client|
      client.request("POST", "/", {}, "in")
      await_stream(server)
      body.stream << "part" << body.stream.read
      body.stream.close

      assert_equal "partin", client.read_response.body
    end
    assert_equal [1, "ok"], [body.closes, server.get("/other").body]
  end

  def test_the_request_body_outlives_the_request
    [{}, { spool_threshold: 1 }].each do |settings|
      body = Body.new
      server = serve(settings: settings) { [200, {}, body] }
      server.connect do |client|
        client.request("POST", "/", {}, "the body")
        await_stream(server)

        assert_equal ["the body", nil], [body.stream.read, body.stream.read]
        body.stream.close
        client.read_response
      end
    end
  end

  def test_an_upgrade_reads_and_writes
    body = Body.new
    server = serve { [101, { "upgrade" => "echo" }, body] }
    server.connect do |client|
      client.write(http(*UPGRADE, body: "early "))
      await_stream(server)
      stream = body.stream
      head = client.read_line until head == "\r\n"
      client.write("late")

      assert_equal ["early", " late"], [stream.read(5), stream.read(5)]
      reader = Thread.new { stream.readpartial(100) }
      stream << "answer"

      assert_equal "answer", client.read(6)
      client.write("x")

      assert_equal "x", reader.value
      stream.close
      assert_equal 1, body.closes
    end
  end

  def test_the_reading_side_of_an_upgrade_outlives_the_writing_side
    body = Class.new(Body) { def call(stream) = super.close_write }.new
    server = serve { [101, { "upgrade" => "echo" }, body] }
    server.connect do |client|
      client.write(http(*UPGRADE))
      await_stream(server)
      client.write("late")

      assert_equal "late", body.stream.read(4)
      body.stream.close
    end
  end

  def test_a_101_needs_an_upgrade
    [101, "101", 101.5].each do |status|
      server = serve { [status, { "upgrade" => "echo" }, []] }

      assert_equal 500, server.get.status, status.inspect
      assert_match(/101/, server.next_report.error.message)
    end
  end
end
