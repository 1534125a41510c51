# frozen_string_literal: true

require_relative "../support/failing"
require_relative "../support/lane_case"

# The kinds of response bodies, and how the server sends each kind.
class BodyTest < Support::LaneCase
  ToStr = Struct.new(:to_str)

  class EachBody
    def initialize(*parts)
      @parts = parts
    end

    def each(&block)
      @parts.each(&block)
    end
  end

  # Like Rack::BodyProxy: to_ary closes the body.
  class ClosingArray < EachBody
    attr_reader :closed

    def to_ary
      close
      @parts
    end

    def close
      @closed = closed.to_i + 1
    end

    def closed?
      closed.to_i.positive?
    end
  end

  def test_an_array_is_sent_with_its_length
    bodies = { [] => "", [""] => "", ["a"] => "a", ["a", "", "b"] => "ab", ["a".encode("UTF-16LE")] => "a\0" }
    bodies.each { |body, text| assert_sent text.b, :length, response_to(body) }
  end

  def test_a_body_with_each_is_sent_in_chunks
    [EachBody.new("a", "", "b"), %w[a b].each, %w[a b].lazy, Struct.new(:a, :b).new("a", "b")].each do |body|
      assert_sent "ab", :chunked, response_to(body)
    end
    assert_equal "", response_to(EachBody.new).body
    assert_equal "", response_to(EachBody.new("")).body
  end

  def test_a_body_with_each_is_sent_with_the_content_length_of_the_application
    assert_sent "ab", :length, response_to(EachBody.new("a", "b"), "content-length" => "2")
  end

  def test_parts_may_be_objects_that_become_strings
    assert_equal "ab", response_to([ToStr.new("a"), "b"]).body
    assert_equal "ab", response_to(EachBody.new(ToStr.new("a"), "b")).body
  end

  def test_a_body_with_to_ary_is_sent_with_its_length
    body = Class.new(EachBody) { define_method(:to_ary) { @parts } }.new("a", "b")

    assert_sent "ab", :length, response_to(body)
  end

  # The to_ary of Rails may call `each` without a block. A part of a file (Rack::Files) does not allow this.
  def test_to_ary_is_not_called_if_the_application_gives_the_length
    body = Class.new(EachBody) { define_method(:to_ary) { raise LocalJumpError, "no block given (yield)" } }
    bodies = [body.new("a", "b"), Rack::BodyProxy.new(body.new("a", "b")) { nil }]

    bodies.each { |each| assert_sent "ab", :length, response_to(each, "content-length" => "2") }
  end

  def test_to_ary_is_called_if_the_length_is_blank
    body = Class.new { define_method(:to_ary) { %w[a b] } }

    assert_sent "ab", :length, response_to(Rack::BodyProxy.new(body.new) { nil }, "content-length" => "")
  end

  # A body can close itself in to_ary, or leave the close to the server. closed? does not prove what the body has done.
  # Therefore the server calls each and not to_ary.
  def test_a_body_with_to_ary_and_closed_is_sent_with_each
    body = ClosingArray.new("a", "b")

    assert_sent "ab", :chunked, response_to(body)
    assert_equal 1, body.closed
  end

  def test_an_array_of_another_class_is_sent
    assert_equal "ab", response_to(Class.new(Array).new(%w[a b])).body
  end

  def test_a_body_that_responds_to_each_and_to_call_is_not_called
    body = EachBody.new("each").tap { |object| object.define_singleton_method(:call) { |stream| stream << "call" } }

    assert_equal "each", response_to(body).body
  end

  def test_each_part_is_sent_before_the_next_part_exists
    go_on = Queue.new
    server = serve { [200, {}, Enumerator.new { |parts| 3.times { |n| (parts << n.to_s) && go_on.pop } }] }
    server.connect do |client|
      client.request("GET", "/")
      head = client.read_line until head == "\r\n"
      3.times do |n|
        assert_equal "1\r\n#{n}\r\n", client.read(6)
        go_on << true
      end

      assert_equal "0\r\n\r\n", client.read(5)
    end
  end

  def test_responses_to_head_and_responses_with_204_or_304_have_no_body
    { "HEAD" => 200, "GET" => 204, "PUT" => 304 }.each do |method, status|
      bodies = [["x"], EachBody.new.tap { |body| body.define_singleton_method(:each) { raise "called" } },
                ->(_stream) { raise "called" }]
      bodies.each do |body|
        response = serve { [status, {}, body] }.request(method, "/")

        assert_equal [status, ""], [response.status, response.body]
      end
    end
  end

  # Rack::Head empties the body before the server gets the body. So only the application can know the length.
  def test_head_announces_the_length_that_the_application_gives
    server = serve { |env| [200, env["PATH_INFO"] == "/" ? {} : { "content-length" => "5" }, []] }

    assert_equal([nil, "5"], %w[/ /5].map { |path| server.request("HEAD", path)["Content-Length"] })
  end

  def test_invalid_bodies_are_reported
    [nil, 1, "string", Object.new, [1], [nil], ["a", :b], [["a"]], EachBody.new(1), EachBody.new(nil)].each do |body|
      server = serve { [200, {}, body] }

      assert_equal 500, server.get.status, body.inspect
      assert_match(/body/, server.next_report.error.message)
    end
  end

  def test_an_invalid_part_after_the_first_part_aborts_the_response
    server = serve { [200, {}, EachBody.new("a", 1)] }
    server.connect do |client|
      client.request("GET", "/")
      assert_raises(Support::Client::Closed) { client.read_response }
    end

    assert_match(/part/, server.next_report.error.message)
  end

  def test_a_body_shorter_than_its_content_length_aborts_the_response
    server = serve { [200, { "content-length" => "5" }, ["abc"]] }
    server.connect do |client|
      client.request("GET", "/short?query")
      assert_raises(Support::Client::Closed) { client.read_response }
    end

    assert_equal [:error, "GET /short: the body is shorter than its Content-Length", nil], server.next_report.to_a
  end

  # The body keeps the block of each, and calls it in close. The client would read the bytes as its next response.
  def test_a_part_after_the_end_raises
    refused = kept = nil
    body = Support::Failing::Body.new(->(out) { (kept = out).call("whole") },
                                      close: -> { refused = assert_raises(IOError) { kept.call("late") } })
    server = serve { |env| env["PATH_INFO"] == "/" ? [200, {}, body] : OK }
    server.connect do |client|
      client.write("GET / HTTP/1.1\r\nHost: test\r\n\r\nGET /next HTTP/1.1\r\nHost: test\r\n\r\n")

      assert_equal(%w[whole ok], Array.new(2) { client.read_response.body })
    end
    assert refused
  end

  private

  def assert_sent(body, framing, response)
    assert_equal [body, framing], [response.body, response.framing]
  end

  def response_to(body, fields = {})
    serve { [200, fields, body] }.get
  end
end
