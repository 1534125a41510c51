# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/streaming"
require_relative "../support/unbuffered"

# The application sends its response while the client still sends its body (unbuffered_bodies).
class FullDuplexTest < Support::LaneCase
  include Support::Streaming
  include Support::Unbuffered

  def test_a_stream_answers_each_part
    server = serve(**UNBUFFERED) { [200, {}, method(:echo)] }
    assert_echo(server)
  end

  def test_a_stream_reads_on_after_its_request
    server = serve(**UNBUFFERED) { [200, {}, ->(stream) { Thread.new { echo(stream) } }] }
    assert_echo(server) { await_stream(server) }
  end

  def test_each_may_read_the_body
    server = serve(**UNBUFFERED) do |env|
      input = env["rack.input"]
      [200, {}, Enumerator.new { |parts| parts << input.readpartial(9).upcase until input.eof? }]
    end
    assert_echo(server)
  end

  def test_another_thread_sends_parts_while_each_waits_for_the_body
    blocks = Queue.new
    server = serve(**UNBUFFERED) do |env|
      body = Object.new
      body.define_singleton_method(:each) do |&block|
        blocks << block
        nil while env["rack.input"].read(1)
      end
      [200, {}, body]
    end
    server.connect do |client|
      client.write(CHUNKED)
      block = blocks.pop
      eventually { server.threads.first.stop? }
      Thread.new { block.call("a") }.join
      read_head(client)

      assert_equal "1\r\na\r\n", client.read(6)
      client.write("0\r\n\r\n")

      assert_equal "0\r\n\r\n", client.read(5)
    end
  end

  # The client reads nothing before its body is read, so the rest of the response is unsent.
  def test_close_may_read_the_body
    read = Queue.new
    server = serve(**UNBUFFERED) do |env|
      body = ["x" * 5_000_000].each
      body.define_singleton_method(:close) { read << env["rack.input"].read }
      [200, {}, body]
    end
    server.connect do |client|
      client.write(LENGTH)
      read_head(client)
      client.write("abcdef")

      assert_equal "abcdef", read.pop
      assert_equal 5_000_000, client.read(5_000_000).bytesize
    end
  end

  def test_continue_is_sent_before_the_head
    server = serve(**UNBUFFERED) { [200, {}, method(:echo)] }
    server.connect do |client|
      client.write("#{HEAD}Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n")

      assert_equal 100, client.read_response.status
      client.write("1\r\na\r\n0\r\n\r\n")

      assert_equal "A", client.read_response.body
    end
  end

  # rack.response_finished gets the env after the request, and the env has rack.input.
  def test_a_dropped_stream_is_reset
    finished = Queue.new
    server = serve(**UNBUFFERED) do |env|
      next dive(200) && OK if env["REQUEST_METHOD"] == "GET"

      env["rack.response_finished"] << ->(*) { finished << true }
      [200, {}, ->(stream) { stream.read(1) }]
    end
    server.connect do |client|
      client.write("#{CHUNKED}1\r\na\r\n")
      Thread.new { await_stream(server) }.join # this thread's stack must not refer to the stream
      Support::Eventually.eventually("the end of the stream") { collected?(server, finished) }
      assert_raises(Support::Client::Closed) { client.read_response }
    end
  end

  private

  def echo(stream)
    loop { stream << stream.readpartial(9).upcase }
  rescue EOFError
    stream.close
  end

  # Sends two parts, and reads each response part before the next one is sent.
  def assert_echo(server)
    server.connect do |client|
      client.write("#{CHUNKED}1\r\na\r\n")
      read_head(client)
      yield if block_given?

      assert_equal "1\r\nA\r\n", client.read(6)
      client.write("2\r\nbc\r\n")

      assert_equal "2\r\nBC\r\n", client.read(7)
      client.write("0\r\n\r\n")

      assert_equal "0\r\n\r\n", client.read(5)
    end
  end

  def read_head(client)
    line = client.read_line until line == "\r\n"
  end

  def collected?(server, finished)
    server.get
    dive(200)
    GC.start
    !finished.empty?
  end
end
