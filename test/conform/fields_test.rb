# frozen_string_literal: true

require "test_helper"
require_relative "support/table"

# RFC 9110 5, RFC 9112 5: field lines. Two field names, for example X-A and X_A, can have the same CGI name (HTTP_X_A).
class FieldsTest < Support::TestCase
  include Conform::Table

  refuses 400,
          "ended by a bare LF" => "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
          "ended by a bare CR" => "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
          "ended by CR CR LF" => "GET / HTTP/1.1\r\nHost: a\r\r\nX: b\r\n\r\n",
          "the head ended by two LFs" => "GET / HTTP/1.1\r\nHost: a\n\n",
          "the head ended by a bare LF" => "GET / HTTP/1.1\r\nHost: a\r\n\n",
          "folded by a space" => get("Host: a", "X: b", " c"),
          "folded by a tab" => get("Host: a", "X: b", "\tc"),
          "folded before the first" => get(" X: b", "Host: a"),
          "a space before the colon" => get("Host: a", "X : b"),
          "a tab before the colon" => get("Host: a", "X\t: b"),
          "a space before the colon of Host" => get("Host : a"),
          "no name" => get("Host: a", ": b"),
          "no colon" => get("Host: a", "X"),
          "a space in a name" => get("Host: a", "X Y: b"),
          "a parenthesis in a name" => get("Host: a", "X(: b"),
          "NUL in a name" => get("Host: a", "X\0: b"),
          "a byte of Latin 1 in a name" => get("Host: a", "X\xC4: b"),
          "NUL in a value" => get("Host: a", "X: b\0c"),
          "CR in a value" => get("Host: a", "X: b\rc"),
          "a control byte in a value" => get("Host: a", "X: b\x01c"),
          "DEL in a value" => get("Host: a", "X: b\x7Fc")

  accepts({ "HTTP_X" => "b c" },
          "white space around a value" => get("Host: a", "X: \t b c \t "),
          "none" => get("Host: a", "X:b c"),
          "a name in other letters" => get("Host: a", "x: b c"))
  accepts({ "HTTP_X" => "" }, "an empty value" => get("Host: a", "X:"), "a blank one" => get("Host: a", "X: \t "))
  accepts({ "HTTP_X" => "b\tc" }, "a tab in a value" => get("Host: a", "X: b\tc"))
  accepts({ "HTTP_X" => "k\xC3\xA4\xFF" }, "any byte above ASCII" => get("Host: a", "X: k\xC3\xA4\xFF"))
  accepts({ "HTTP_X" => "b, c, d" }, "a repeated name" => get("X: b", "Host: a", "x: c", "X: d"))
  accepts({ "HTTP_COOKIE" => "a=b; c=d" }, "two cookie fields" => get("Host: a", "Cookie: a=b", "Cookie: c=d"))
  accepts({ "HTTP_X_FORWARDED_FOR" => "1.2.3.4" },
          "an underscore in a name" => get("Host: a", "X-Forwarded-For: 1.2.3.4", "X_Forwarded_For: 6.6.6.6"),
          "one of its dashes an underscore" => get("Host: a", "X-Forwarded_For: 6.6.6.6", "X-Forwarded-For: 1.2.3.4"))
  accepts({ "body" => "", "CONTENT_LENGTH" => nil, "HTTP_CONTENT_LENGTH" => nil },
          "a length with an underscore" => get("Host: a", "Content_Length: 5"))
  accepts({ "body" => "", "HTTP_TRANSFER_ENCODING" => nil },
          "a coding with an underscore" => get("Host: a", "Transfer_Encoding: chunked"))
  accepts({ "HTTP_PROXY" => nil }, "Proxy" => get("Host: a", "Proxy: http://evil"))
  accepts({ "CONTENT_TYPE" => "text/x", "HTTP_CONTENT_TYPE" => nil },
          "Content-Type has a name of its own" => get("Host: a", "Content-Type: text/x"))
end

# With allow_underscore_headers, the server keeps fields with an underscore in their names.
class UnderscoreFieldsTest < Support::TestCase
  include Conform::Table

  accepts({ "HTTP_X_Y" => "b" }, "kept" => get("Host: a", "X_Y: b"))
  accepts({ "body" => "" }, "but never for the body's framing" => get("Host: a", "Content_Length: 5"))

  def arguments
    ["--allow-underscore-headers"]
  end
end
