# frozen_string_literal: true

require "test_helper"
require_relative "support/table"

# Tests when a connection stays open after a response (RFC 9112 9).
class ConnectionTest < Support::TestCase
  include Conform::Table

  def self.get10(*lines)
    get("Host: a", *lines).sub("HTTP/1.1", "HTTP/1.0")
  end

  kept = { "PATH_INFO" => "/" }
  accepts(kept,
          "1.1" => get("Host: a"),
          "1.1 that says so" => get("Host: a", "Connection: keep-alive"),
          "1.1 with other tokens" => get("Host: a", "Connection: Upgrade, HTTP2-Settings"),
          "1.1 with a token that begins like close" => get("Host: a", "Connection: closed, xclose"),
          "1.1 with a field of that name" => get("Host: a", "Keep-Alive: close"),
          "1.0 that asks for it" => get10("Connection: keep-alive"),
          "1.0 in other letters" => get10("Connection: Keep-Alive"),
          "1.0 in a list" => get10("Connection: x,keep-alive ,y"),
          "1.0 in a second field" => get10("Connection: x", "Connection: keep-alive"))
  accepts_once(kept,
               "close" => get("Host: a", "Connection: close"),
               "close in other letters" => get("Host: a", "connection: CLOSE"),
               "close in a list" => get("Host: a", "Connection: x ,\tclose, y"),
               "close in a list with empty members" => get("Host: a", "Connection: ,,close"),
               "close in a second field" => get("Host: a", "Connection: keep-alive", "Connection: close"),
               "close beside keep-alive" => get("Host: a", "Connection: keep-alive, close"),
               "1.0" => get10,
               "1.0 with close" => get10("Connection: close"),
               "1.0 with both" => get10("Connection: close, keep-alive"),
               "1.0 with a token that ends like it" => get10("Connection: xkeep-alive"))

  def test_a_response_says_whether_the_connection_stays_open
    server = start_application(:unix)
    {
      get("Host: a") => [nil, "keep-alive"],
      get("Host: a", "Connection: close") => ["close"],
      self.class.get10 => [nil, "close"],
      self.class.get10("Connection: keep-alive") => ["keep-alive"]
    }.each do |request, expected|
      server.connect do |client|
        client.write(request)
        assert_includes expected, client.read_response["Connection"]&.downcase, request
      end
    end
  end

  def get(...)
    self.class.get(...)
  end

  def test_a_connection_closes_after_max_keepalive_requests
    server = start_bontebok(args: ["-w", "1", "--max-keepalive-requests", "3"], rackup: Conform::Table::APPLICATION)
    server.connect do |client|
      client.write(get("Host: a") * 4)
      assert_equal [true, true, false], Array.new(3) { client.read_response.keep_alive? }
      assert_equal "", client.read_to_end
    end
    assert_equal 3, server.get("/calls").body.lines.size
  end

  def test_with_a_keepalive_timeout_of_0_each_response_closes_its_connection
    server = start_bontebok(args: ["-w", "1", "--keepalive-timeout", "0"], rackup: Conform::Table::APPLICATION)
    [get("Host: a"), self.class.get10("Connection: keep-alive")].each do |request|
      server.connect do |client|
        client.write(request)
        refute_predicate client.read_response, :keep_alive?
        assert_equal :eof, client.wait_for_end
      end
    end
  end
end
