# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/streaming"

# Several threads use the same stream.
class StreamThreadsTest < Support::LaneCase
  include Support::Streaming

  # Bytes behind the end of the body would be the client's next response.
  def test_a_write_that_waits_for_a_close_sends_nothing
    with_stream do |client, stream|
      threads = [Thread.new { stream.write("x" * 20_000_000) }]
      [-> { stream.close }, -> { stream.write("HTTP/1.1 200 Split\r\n") }, -> { stream.close }].each do |call|
        Thread.pass until threads.last.status == "sleep"
        threads << Thread.new { outcome_of(&call) }
      end

      assert_equal 20_000_000, client.read_response.body.bytesize
      assert_equal [nil, IOError, nil], threads.drop(1).map(&:value)
      client.request("GET", "/")

      assert_equal "ok", client.read_response.body
    end
  end

  def test_an_interrupted_write_never_looks_complete
    interrupted = Queue.new
    server = serve do
      [200, {}, lambda { |stream|
        writer = Thread.new { stream.write("x" * 20_000_000) }
        Thread.pass until writer.status == "sleep"
        interrupted << writer.kill.join
        stream.close
      }]
    end
    server.connect do |client|
      client.request("GET", "/")
      interrupted.pop

      assert_raises(Support::Client::Closed) { client.read_response }
    end
  end

  def test_another_thread_changes_the_buffer_of_a_reader_that_waits
    upgrade do |client|
      buffer = +""
      reader = waiting { @stream.read(2, buffer) }
      buffer.replace("....")
      client.write("abc")

      assert_equal ["....", "abc"], [reader.value, @stream.readpartial(9)]
      reader = waiting { @stream.read(2, buffer) }
      buffer.freeze
      client.write("def")

      assert_raises(FrozenError) { reader.value }
      assert_equal "def", @stream.readpartial(9)
      @stream.close
    end
  end

  # IO#sysread locks its buffer while it waits.
  def test_a_buffer_that_another_thread_has_locked_loses_no_bytes
    source, filler = IO.pipe
    upgrade do |client|
      buffer = +""
      reader = waiting { @stream.read(2, buffer) }
      locker = waiting { source.sysread(1, buffer) }
      client.write("abc")

      assert_match(/locked/, assert_raises(RuntimeError) { reader.value }.message)
      assert_equal "abc", @stream.readpartial(9)
      filler.write("x") && locker.join
      @stream.close
    end
  ensure
    [source, filler].each(&:close)
  end

  private

  # Yields a client whose connection @stream has.
  def upgrade
    server = serve { [101, { "upgrade" => "x" }, ->(stream) { @stream = stream }] }
    server.connect do |client|
      client.write(http("Connection: upgrade", "Upgrade: x"))
      client.read_response
      await_stream(server)
      yield client
    end
  end

  # Returns the value of the block, or the class of its exception.
  def outcome_of
    yield
  rescue IOError => e
    e.class
  end
end
