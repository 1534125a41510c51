# frozen_string_literal: true

require "test_helper"
require_relative "support/table"

# The limits of a request, and their statuses: 414 for the target, 431 for fields, 413 for the body. A request at its
# limit is accepted. A request with one more byte or field is rejected.
class LimitsTest < Support::TestCase
  include Conform::Table

  # Returns a field line without its CRLF. size: bytes of the line with its CRLF.
  def self.field_of(size)
    "X: #{'b' * (size - 5)}"
  end

  def arguments
    %w[--max-target 64 --max-field-bytes 256 --max-fields 4 --max-body 10]
  end

  accepts({ "REQUEST_METHOD" => "GET" },
          "the longest target" => "GET /#{'a' * 63} HTTP/1.1\r\nHost: a\r\n\r\n",
          "the most fields" => get("Host: a", "A: 1", "B: 2", "C: 3"),
          "many bytes of fields" => get("Host: a", field_of(240)))
  accepts({ "body" => "0123456789" },
          "the longest body" => post("Content-Length: 10", body: "0123456789"),
          "the longest body in chunks" => chunked("5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n"))

  refuses 414, "a longer target" => "GET /#{'a' * 64} HTTP/1.1\r\nHost: a\r\n\r\n",
               "a target without end" => "GET /#{'a' * 100_000}"
  refuses 431, "one field more" => get("Host: a", "A: 1", "B: 2", "C: 3", "D: 4"),
               "too many bytes of fields" => get("Host: a", field_of(250)),
               "a name without end" => "GET / HTTP/1.1\r\nHost: a\r\n#{'x' * 100_000}",
               "a value without end" => "GET / HTTP/1.1\r\nHost: a\r\nX: #{'x' * 100_000}"
  refuses 413, "a longer body" => post("Content-Length: 11", body: "0123456789a"),
               "a longer body, not sent" => post("Content-Length: 11"),
               "the longest number" => post("Content-Length: 18446744073709551615"),
               "a longer body in chunks" => chunked("5\r\n01234\r\n6\r\n56789a\r\n0\r\n\r\n"),
               "a longer body that was asked for first" => post("Content-Length: 11", "Expect: 100-continue")
  # 400 is allowed, because the server can check the bytes after the chunk size before it checks the limit.
  refuses [400, 413], "a longer chunk, not sent" => chunked("b\r\n")
end

# The limits of a server without options.
class DefaultLimitsTest < Support::TestCase
  include Conform::Table

  def self.fields(count)
    Array.new(count) { |number| "X#{number}: b" }
  end

  accepts({ "REQUEST_METHOD" => "GET" },
          "a target of 16 KiB" => "GET /#{'a' * ((16 * 1024) - 1)} HTTP/1.1\r\nHost: a\r\n\r\n",
          "128 fields" => get("Host: a", *fields(127)),
          "63 KiB of fields" => get("Host: a", "X: #{'b' * (63 * 1024)}"))

  refuses 414, "a target above 16 KiB" => "GET /#{'a' * 16 * 1024} HTTP/1.1\r\nHost: a\r\n\r\n"
  refuses 431, "129 fields" => get("Host: a", *fields(128)),
               "64 KiB in one field" => get("Host: a", "X: #{'b' * 64 * 1024}"),
               "1 MiB of fields" => get("Host: a", *(["X: #{'b' * 1000}"] * 1000))
end
