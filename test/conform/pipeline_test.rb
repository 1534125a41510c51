# frozen_string_literal: true

require "digest"
require "test_helper"
require_relative "support/table"

# Pipelining (RFC 9112 9.3.2): a client sends more requests before it has read the earlier responses. This file also
# tests requests that arrive in pieces of any size.
class PipelineTest < Support::TestCase
  include Conform::Table

  DIGEST = <<~RUBY
    require "digest"
    run ->(env) { [200, {}, [env["PATH_INFO"], Digest::SHA256.hexdigest(env["rack.input"].read)]] }
  RUBY

  def request(target, body = nil)
    length = body && "Content-Length: #{body.bytesize}\r\n"
    "#{body ? 'POST' : 'GET'} #{target} HTTP/1.1\r\nHost: a\r\n#{length}\r\n#{body}".b
  end

  def chunks(target, *parts)
    lines = parts.map { |part| "#{part.bytesize.to_s(16)}\r\n#{part}\r\n" }.join
    "POST #{target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n#{lines}0\r\n\r\n".b
  end

  def assert_responses(expected, client)
    expected.each do |target, body|
      response = client.read_response.body
      assert_includes response, "PATH_INFO=#{target.dump}\n"
      assert_includes response, "body=#{body.to_s.dump}\n"
    end
  end

  def test_responses_come_in_order
    %i[unix tcp].each do |transport|
      server = start_application(transport)
      server.connect do |client|
        client.write(Array.new(200) { |number| request("/#{number}") }.join)
        assert_responses(Array.new(200) { |number| ["/#{number}", nil] }, client)
      end
    ensure
      server&.stop
    end
  end

  MIXED = [["/a", "one"], ["/b", nil], ["/c", "two and three"], ["/d", nil], ["/e", ""]].freeze

  def mixed_bytes
    request("/a", "one") << request("/b") << chunks("/c", "two", " and three") << request("/d") << chunks("/e")
  end

  def test_bodies_may_come_between_requests
    start_application(:unix).connect do |client|
      client.write(mixed_bytes)
      assert_responses(MIXED, client)
    end
  end

  def test_requests_may_come_one_byte_at_a_time
    start_application(:tcp).connect do |client|
      mixed_bytes.each_char { |byte| client.write(byte) }
      assert_responses(MIXED, client)
    end
  end

  def test_requests_may_be_split_at_any_byte
    server = start_application(:unix)
    bytes = request("/a", "one") << chunks("/b", "two")
    (1...bytes.bytesize).each do |place|
      server.connect do |client|
        client.write(bytes.byteslice(0, place))
        client.write(bytes.byteslice(place..))
        assert_responses([%w[/a one], %w[/b two]], client)
      end
    end
  end

  def test_an_empty_line_between_requests_is_ignored
    start_application(:unix).connect do |client|
      client.write("#{request('/a', 'b')}\r\n#{request('/c')}")
      assert_responses([%w[/a b], ["/c", nil]], client)
    end
  end

  # The server ignores the bytes after a request with Connection: close, and after an HTTP/1.0 request.
  def test_no_request_is_served_after_close
    server = start_application(:unix)
    ["GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET /last HTTP/1.0\r\n\r\n"].each do |last|
      server.connect do |client|
        client.write(request("/first") + last + request("/smuggled"))
        assert_responses([["/first", nil], ["/last", nil]], client)
        assert_equal "", client.read_to_end
      end
      assert_equal "GET /first\nGET /last", server.get("/calls").body
    end
  end

  def test_a_half_closed_connection_is_answered
    server = start_application(:tcp)
    server.connect do |client|
      client.write(request("/a") + request("/b", "c"))
      client.finish_writing
      assert_responses([["/a", nil], %w[/b c]], client)
      assert_equal "", client.read_to_end
    end
  end

  def test_a_request_after_a_large_body_is_served
    body = "0123456789abcdef" * 200_000
    server = start_bontebok(args: ["-w", "1"], rackup: DIGEST)
    digest = Digest::SHA256.hexdigest(body)
    server.connect do |client|
      client.write(request("/a", body) + request("/b"))
      assert_equal "/a#{digest}", client.read_response.body
      assert_equal "/b#{Digest::SHA256.hexdigest('')}", client.read_response.body
    end
  end
end
