# frozen_string_literal: true

require "test_helper"
require_relative "support/table"

# RFC 9112 3: the request line, its target, and the bytes that may come before it.
class RequestLineTest < Support::TestCase
  include Conform::Table

  # Returns a request with this request line.
  def self.line(text)
    "#{text}\r\nHost: a\r\n\r\n"
  end

  refuses 400,
          "two empty lines before it" => "\r\n\r\n#{line('GET / HTTP/1.1')}",
          "a bare LF before it" => "\n#{line('GET / HTTP/1.1')}",
          "a space before it" => line(" GET / HTTP/1.1"),
          "a NUL before it" => line("\0GET / HTTP/1.1"),
          "ended by a bare LF" => "GET / HTTP/1.1\nHost: a\r\n\r\n",
          "ended by a bare CR" => "GET / HTTP/1.1\rHost: a\r\n\r\n",
          "ended by CR CR LF" => "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n"
  refuses 400,
          "no version" => line("GET /"),
          "no target" => line("GET HTTP/1.1"),
          "no target but its spaces" => line("GET  HTTP/1.1"),
          "nothing but a method" => line("GET"),
          "two spaces after the method" => line("GET  / HTTP/1.1"),
          "two spaces before the version" => line("GET /  HTTP/1.1"),
          "a tab instead of a space" => line("GET\t/ HTTP/1.1"),
          "a space in the target" => line("GET /a b HTTP/1.1"),
          "a space after the version" => line("GET / HTTP/1.1 "),
          "something after the version" => line("GET / HTTP/1.1 x"),
          "no digit after the dot" => line("GET / HTTP/1."),
          "two digits after the dot" => line("GET / HTTP/1.10"),
          "two digits before the dot" => line("GET / HTTP/11.1"),
          "a letter as version" => line("GET / HTTP/1.x"),
          "a comma for the dot" => line("GET / HTTP/1,1"),
          "small letters" => line("GET / http/1.1"),
          "another protocol" => line("GET / HTTPS/1.1")
  refuses 400,
          "no method" => line(" / HTTP/1.1"),
          "a parenthesis in the method" => line("GE(T / HTTP/1.1"),
          "a control byte in the method" => line("GE\x01T / HTTP/1.1"),
          "a byte of Latin 1 in the method" => line("GE\xC4T / HTTP/1.1")
  refuses 400,
          "NUL in the target" => line("GET /a\0b HTTP/1.1"),
          "CR in the target" => line("GET /a\rb HTTP/1.1"),
          "DEL in the target" => line("GET /a\x7Fb HTTP/1.1"),
          "a fragment" => line("GET /a#b HTTP/1.1"),
          "a fragment in the absolute form" => line("GET http://a/#b HTTP/1.1"),
          "a target without slash" => line("GET a HTTP/1.1"),
          "a target with a query only" => line("GET ?a HTTP/1.1"),
          "an authority as target" => line("GET a:80 HTTP/1.1"),
          "the asterisk for GET" => line("GET * HTTP/1.1"),
          "more than the asterisk" => line("OPTIONS *a HTTP/1.1"),
          "another scheme" => line("GET ftp://a/ HTTP/1.1"),
          "no host in the absolute form" => line("GET http:///a HTTP/1.1"),
          "user information" => line("GET http://user@a/ HTTP/1.1"),
          "a wrong port" => line("GET http://a:b/ HTTP/1.1")
  refuses 501,
          "a method of 33 bytes" => line("#{'M' * 33} / HTTP/1.1"),
          "a method of 1 MiB" => line("#{'M' * (1 << 20)} / HTTP/1.1")
  refuses [405, 501], "CONNECT" => line("CONNECT a:80 HTTP/1.1")
  refuses 505,
          "the preface of HTTP/2" => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
          "2.0" => line("GET / HTTP/2.0"),
          "0.9" => line("GET / HTTP/0.9"),
          "3.1" => line("GET / HTTP/3.1")

  accepts({ "REQUEST_METHOD" => "GET", "PATH_INFO" => "/", "QUERY_STRING" => "", "REQUEST_URI" => "/" },
          "the simplest" => line("GET / HTTP/1.1"),
          "one empty line before it" => "\r\n#{line('GET / HTTP/1.1')}",
          "a later version 1.x" => line("GET / HTTP/1.9"))
  accepts({ "REQUEST_METHOD" => "get" }, "a method in small letters" => line("get / HTTP/1.1"))
  accepts({ "REQUEST_METHOD" => "M" * 32 }, "a method of 32 bytes" => line("#{'M' * 32} / HTTP/1.1"))
  accepts({ "REQUEST_METHOD" => "!#$%&'*+-.^_`|~9Z" },
          "every kind of token byte" => line("!#$%&'*+-.^_`|~9Z / HTTP/1.1"))
  accepts({ "PATH_INFO" => "/a%2Fb/../c", "QUERY_STRING" => "d=%20&e?f", "REQUEST_URI" => "/a%2Fb/../c?d=%20&e?f" },
          "a target stays as it is" => line("GET /a%2Fb/../c?d=%20&e?f HTTP/1.1"))
  accepts({ "PATH_INFO" => "/a%zz" }, "no digits behind a percent sign" => line("GET /a%zz HTTP/1.1"))
  psgi_differs "PATH_INFO is decoded", "a target stays as it is" => { "PATH_INFO" => "/a/b/../c" },
                                       "no digits behind a percent sign" => 400
  accepts({ "PATH_INFO" => "//a", "QUERY_STRING" => "" }, "two slashes" => line("GET //a? HTTP/1.1"))
  accepts({ "REQUEST_METHOD" => "OPTIONS", "PATH_INFO" => "*" }, "the asterisk" => line("OPTIONS * HTTP/1.1"))
  psgi_differs "PATH_INFO begins with a slash, or is empty", "the asterisk" => { "PATH_INFO" => "" }
  accepts({ "PATH_INFO" => "/x", "QUERY_STRING" => "y", "HTTP_HOST" => "b:81", "SERVER_NAME" => "b",
            "SERVER_PORT" => "81", "REQUEST_URI" => "http://b:81/x?y" },
          "the absolute form wins over Host" => line("GET http://b:81/x?y HTTP/1.1"))
  psgi_differs "REQUEST_URI has no scheme and no host",
               "the absolute form wins over Host" => { "REQUEST_URI" => "/x?y" }
  accepts({ "PATH_INFO" => "/", "HTTP_HOST" => "b" },
          "the absolute form without a path" => line("GET http://b HTTP/1.1"),
          "the scheme in capitals" => line("GET HTTP://b/ HTTP/1.1"),
          "https" => line("GET https://b/ HTTP/1.1"))
end
