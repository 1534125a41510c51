# frozen_string_literal: true

require "test_helper"
require_relative "support/table"

# RFC 9110 10.1.1: a client sends Expect: 100-continue, and sends the body only after a 100 response.
class ExpectTest < Support::TestCase
  include Conform::Table

  refuses 417,
          "another expectation" => post("Expect: 200-ok", "Content-Length: 1", body: "a"),
          "another one beside it" => post("Expect: 100-continue, x", "Content-Length: 1", body: "a"),
          "another one in a second field" => post("Expect: 100-continue", "Expect: x", "Content-Length: 1", body: "a"),
          "one that begins so" => post("Expect: 100-continued", "Content-Length: 1", body: "a"),
          "one without a body" => get("Host: a", "Expect: x")
  refuses 413, "a body that is too long" => post("Expect: 100-continue", "Content-Length: 1001")
  refuses 400, "a body of unclear length" => post("Expect: 100-continue", "Content-Length: 1", "Content-Length: 1")

  accepts({ "body" => "abc" },
          "an empty field" => post("Expect:", "Content-Length: 3", body: "abc"),
          "empty elements" => post("Expect: ,100-continue, ", "Content-Length: 3", body: "abc"),
          "a body that came along" => post("Expect: 100-continue", "Content-Length: 3", body: "abc"))
  accepts({ "body" => "" },
          "no body" => get("Host: a", "Expect: 100-continue"),
          "an empty body" => post("Expect: 100-continue", "Content-Length: 0"))

  def arguments
    %w[--max-body 1000]
  end

  def post(...)
    self.class.post(...)
  end

  def test_the_server_sends_one_100_response_before_the_body
    server = start_application(:tcp)
    ["100-continue", "100-Continue"].each do |expectation|
      server.connect do |client|
        client.write(post("Expect: #{expectation}", "Content-Length: 4"))
        interim = client.read_response
        assert_equal [100, ""], [interim.status, interim.body]
        client.write("ab")
        assert client.quiet?(0.05), "more after 100"
        client.write("cd")
        assert_match(/^body="abcd"/, client.read_response.body)
      end
    end
  end

  def test_the_server_sends_a_100_response_before_a_chunked_body
    server = start_application(:unix)
    server.connect do |client|
      client.write(post("Expect: 100-continue", "Transfer-Encoding: chunked"))
      assert_equal 100, client.read_response.status
      client.write("3\r\nabc\r\n0\r\n\r\n")
      assert_match(/^body="abc"/, client.read_response.body)
    end
  end

  def test_responses_keep_their_order_in_a_pipeline
    server = start_application(:unix)
    server.connect do |client|
      client.write(self.class.get("Host: a") << post("Expect: 100-continue", "Content-Length: 1"))
      assert_equal [200, 100], Array.new(2) { client.read_response.status }
      client.write("a")
      assert_match(/^body="a"/, client.read_response.body)
    end
  end

  def test_a_client_of_http_1_0_gets_no_100_response
    server = start_application(:unix)
    server.connect do |client|
      client.write(post("Expect: 100-continue", "Content-Length: 1").sub("HTTP/1.1", "HTTP/1.0"))
      assert client.quiet?(0.05)
      client.write("a")
      assert_match(/^body="a"/, client.read_response.body)
    end
  end
end
