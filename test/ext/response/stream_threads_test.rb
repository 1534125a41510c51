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

  private

  # Returns the value of the block, or the class of its exception.
  def outcome_of
    yield
  rescue IOError => e
    e.class
  end
end
