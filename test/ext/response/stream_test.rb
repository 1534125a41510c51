# frozen_string_literal: true

require_relative "../support/lane_case"

# Rack 3's streaming body: the body's method `call` gets a stream and writes the response to the stream.
class StreamTest < Support::LaneCase
  def test_the_written_text_is_the_body
    response = response_to do |stream|
      stream << "a" << :b
      stream.write("c", 1, nil)
      stream.flush.write
      stream.close
    end

    assert_equal ["abc1", :chunked], [response.body, response.framing]
  end

  def test_the_methods_return_the_same_as_those_of_io
    seen = nil
    response_to do |stream|
      seen = [stream.write("\u00e4", 12), stream.write(""), stream.write, stream.equal?(stream << "x"),
              stream.equal?(stream.flush), stream.close_write, stream.close]
    end

    assert_equal [4, 0, 0, true, true, nil, nil], seen
  end

  def test_a_stream_without_a_write_is_an_empty_body
    assert_equal "", response_to(&:close_write).body
    assert_equal "", response_to(&:close).body
  end

  def test_the_head_is_sent_before_the_call
    go_on = Queue.new
    server = serve { [200, { "x-a" => "1" }, ->(stream) { go_on.pop && (stream << "late").close }] }
    server.connect do |client|
      client.request("GET", "/")
      head = client.read_line until head == "\r\n"
      go_on << true

      assert_equal "4\r\nlate\r\n0\r\n\r\n", client.read(14)
    end
  end

  def test_the_response_ends_when_the_stream_is_closed
    go_on = Queue.new
    server = serve { [200, {}, ->(stream) { (stream << "x").close && go_on.pop }] }
    server.connect do |client|
      client.request("GET", "/")

      assert_equal "x", client.read_response.body
    ensure
      go_on << true
    end
  end

  def test_a_closed_stream_raises
    states = nil
    response_to do |stream|
      states = [stream.closed?, stream.close_read, stream.closed?, stream.close_write, stream.closed?, stream.close]
      assert_raises(IOError) { stream.write("x") }
      assert_raises(IOError) { stream << "x" }
      assert_raises(IOError) { stream.flush }
      assert_raises(IOError) { stream.read }
    end

    assert_equal [false, nil, false, nil, true, nil], states
  end

  def test_read_reads_the_request_body
    server = serve do
      [200, {}, lambda { |stream|
        stream.write(stream.read(2), "-", stream.read, stream.read(1).inspect, stream.read.inspect)
        stream.close
      }]
    end

    assert_equal "ab-cdnilnil", server.request("POST", "/", {}, "abcd").body
    assert_equal "-nilnil", server.get.body
  end

  def test_a_block_of_each_ends_with_its_response
    kept = nil
    body = Object.new
    body.define_singleton_method(:each) { |&block| (kept = block).call("x") }
    stale = Enumerator.new { |parts| kept.call("stale") && (parts << "y") }
    server = serve { |env| [200, {}, env["PATH_INFO"] == "/" ? body : stale] }

    assert_equal "x", server.get.body
    server.await_requests(1)
    assert_raises(IOError) { kept.call("y") }
    assert_equal 500, server.get("/second").status
    assert_kind_of IOError, server.next_report.error
  end

  def test_another_thread_may_write_during_the_call
    response = response_to do |stream|
      Thread.new { stream << "its " }.join
      (stream << "mine").close
    end

    assert_equal "its mine", response.body
  end

  def test_an_application_cannot_make_a_stream
    assert_raises(TypeError) { Bontebok::Core::Stream.allocate }
  end

  private

  def response_to(&streaming)
    server = serve { [200, {}, streaming] }
    server.get.tap { server.await_requests(1) }
  end
end
