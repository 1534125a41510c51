# frozen_string_literal: true

require_relative "../support/lane_case"

# What a body may be, and how it leaves.
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

  # Rack::BodyProxy's way: to_ary closes.
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

  def test_array
    bodies = { [] => "", [""] => "", ["a"] => "a", ["a", "", "b"] => "ab", ["a".encode("UTF-16LE")] => "a\0" }
    bodies.each { |body, text| assert_sent text.b, :length, response_to(body) }
  end

  def test_each
    [EachBody.new("a", "", "b"), %w[a b].each, %w[a b].lazy, Struct.new(:a, :b).new("a", "b")].each do |body|
      assert_sent "ab", :chunked, response_to(body)
    end
    assert_equal "", response_to(EachBody.new).body
    assert_equal "", response_to(EachBody.new("")).body
  end

  def test_each_with_a_content_length
    assert_sent "ab", :length, response_to(EachBody.new("a", "b"), "content-length" => "2")
  end

  def test_parts_that_become_strings
    assert_equal "ab", response_to([ToStr.new("a"), "b"]).body
    assert_equal "ab", response_to(EachBody.new(ToStr.new("a"), "b")).body
  end

  def test_to_ary
    body = Class.new(EachBody) { define_method(:to_ary) { @parts } }.new("a", "b")

    assert_sent "ab", :length, response_to(body)
  end

  # Its to_ary may close the body, and its closed? is no proof of that: each is called instead.
  def test_to_ary_of_a_body_that_tells_whether_it_is_closed
    body = ClosingArray.new("a", "b")

    assert_sent "ab", :chunked, response_to(body)
    assert_equal 1, body.closed
  end

  def test_an_array_of_another_class
    assert_equal "ab", response_to(Class.new(Array).new(%w[a b])).body
  end

  def test_a_body_that_responds_to_each_and_to_call_is_not_called
    body = EachBody.new("each").tap { |object| object.define_singleton_method(:call) { |stream| stream << "call" } }

    assert_equal "each", response_to(body).body
  end

  def test_each_part_leaves_at_once
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

  def test_without_a_body
    { "HEAD" => 200, "GET" => 204, "PUT" => 304 }.each do |method, status|
      bodies = [["x"], EachBody.new.tap { |body| body.define_singleton_method(:each) { raise "called" } },
                ->(_stream) { raise "called" }]
      bodies.each do |body|
        response = serve { [status, {}, body] }.request(method, "/")

        assert_equal [status, ""], [response.status, response.body]
      end
    end
  end

  # Rack::Head has emptied the body by then: only the application can know the length.
  def test_head_announces_the_length_that_the_application_gives
    server = serve { |env| [200, env["PATH_INFO"] == "/" ? {} : { "content-length" => "5" }, []] }

    assert_equal([nil, "5"], %w[/ /5].map { |path| server.request("HEAD", path)["Content-Length"] })
  end

  def test_invalid_bodies
    [nil, 1, "string", Object.new, [1], [nil], ["a", :b], [["a"]], EachBody.new(1), EachBody.new(nil)].each do |body|
      server = serve { [200, {}, body] }

      assert_equal 500, server.get.status, body.inspect
      assert_match(/body/, server.next_report.error.message)
    end
  end

  def test_an_invalid_part_after_the_first_aborts
    server = serve { [200, {}, EachBody.new("a", 1)] }
    server.connect do |client|
      client.request("GET", "/")
      assert_raises(Support::Client::Closed) { client.read_response }
    end

    assert_match(/part/, server.next_report.error.message)
  end

  def test_shorter_than_announced
    server = serve { [200, { "content-length" => "5" }, ["abc"]] }
    server.connect do |client|
      client.request("GET", "/short?query")
      assert_raises(Support::Client::Closed) { client.read_response }
    end

    assert_equal [:error, "GET /short: the body is shorter than its Content-Length", nil], server.next_report.to_a
  end

  private

  def assert_sent(body, framing, response)
    assert_equal [body, framing], [response.body, response.framing]
  end

  def response_to(body, fields = {})
    serve { [200, fields, body] }.get
  end
end
