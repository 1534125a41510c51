# frozen_string_literal: true

require "test_helper"
require_relative "support/table"

# RFC 9112 3.2: Host decides which site the client asks for. A request with two possible hosts is an attack.
class HostTest < Support::TestCase
  include Conform::Table

  refuses 400,
          "none in 1.1" => get("X: b"),
          "none beside the absolute form" => "GET http://a/ HTTP/1.1\r\n\r\n",
          "two" => get("Host: a", "Host: b"),
          "two alike" => get("Host: a", "Host: a"),
          "two in 1.0" => "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n",
          "two in a list" => get("Host: a, b"),
          "a space" => get("Host: a b"),
          "a slash" => get("Host: a/b"),
          "a question mark" => get("Host: a?b"),
          "user information" => get("Host: user@a"),
          "a backslash" => get("Host: a\\b"),
          "a quote" => get("Host: \"a\""),
          "no digits as port" => get("Host: a:b"),
          "two ports" => get("Host: a:80:81"),
          "an open bracket" => get("Host: [::1"),
          "something behind the bracket" => get("Host: [::1]a"),
          "a name in brackets" => get("Host: [a/b]"),
          "a zone of IPv6" => get("Host: [fe80::1%25eth0]"),
          "wrong in 1.0" => "GET / HTTP/1.0\r\nHost: a/b\r\n\r\n"

  accepts({ "HTTP_HOST" => "a.example", "SERVER_NAME" => "a.example", "SERVER_PORT" => "80" },
          "a name" => get("Host: a.example"))
  accepts({ "HTTP_HOST" => "a.example:8080", "SERVER_NAME" => "a.example", "SERVER_PORT" => "8080" },
          "a name and a port" => get("Host: a.example:8080"))
  accepts({ "HTTP_HOST" => "192.0.2.1", "SERVER_NAME" => "192.0.2.1" }, "an address" => get("Host: 192.0.2.1"))
  accepts({ "HTTP_HOST" => "[2001:db8::1]:81", "SERVER_NAME" => "[2001:db8::1]", "SERVER_PORT" => "81" },
          "an address of IPv6" => get("Host: [2001:db8::1]:81"))
  accepts_once({ "HTTP_HOST" => nil }, "none in 1.0" => "GET / HTTP/1.0\r\n\r\n")
end
