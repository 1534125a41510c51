# frozen_string_literal: true

require "test_helper"
require_relative "support/table"

# RFC 9112 7.1: the chunked coding, byte by byte.
class ChunkedTest < Support::TestCase
  include Conform::Table

  refuses 400,
          "no size" => chunked("\r\nabc\r\n0\r\n\r\n"),
          "a prefix" => chunked("0x3\r\nabc\r\n0\r\n\r\n"),
          "a plus" => chunked("+3\r\nabc\r\n0\r\n\r\n"),
          "a minus" => chunked("-3\r\nabc\r\n0\r\n\r\n"),
          "a space before the size" => chunked(" 3\r\nabc\r\n0\r\n\r\n"),
          "no hexadecimal digit" => chunked("g\r\nabc\r\n0\r\n\r\n"),
          "a digit, then none" => chunked("3g\r\nabc\r\n0\r\n\r\n"),
          "an underscore" => chunked("1_0\r\n#{'a' * 16}\r\n0\r\n\r\n"),
          "2^64" => chunked("10000000000000000\r\nabc\r\n0\r\n\r\n"),
          "2^64 and 3, which overflows to 3" => chunked("10000000000000003\r\nabc\r\n0\r\n\r\n"),
          "a sum above 2^64" => chunked("1\r\na\r\nffffffffffffffff\r\nabc\r\n0\r\n\r\n"),
          "many digits" => chunked("#{'f' * 300}\r\nabc\r\n0\r\n\r\n"),
          "ended by a bare LF" => chunked("3\nabc\r\n0\r\n\r\n"),
          "ended by a bare CR" => chunked("3\rabc\r\n0\r\n\r\n"),
          "ended by CR CR LF" => chunked("3\r\r\nabc\r\n0\r\n\r\n"),
          "no CRLF after the data" => chunked("3\r\nabc0\r\n\r\n"),
          "a bare LF after the data" => chunked("3\r\nabc\n0\r\n\r\n"),
          "more data than its size" => chunked("3\r\nabcd\r\n0\r\n\r\n"),
          "a bare LF after the last size" => chunked("3\r\nabc\r\n0\n\r\n"),
          "a bare LF at the end" => chunked("3\r\nabc\r\n0\r\n\n")
  refuses 400,
          "NUL in an extension" => chunked("3;a\0b\r\nabc\r\n0\r\n\r\n"),
          "CR in an extension" => chunked("3;a\rb\r\nabc\r\n0\r\n\r\n"),
          "LF in an extension" => chunked("3;a\nb\r\nabc\r\n0\r\n\r\n"),
          "LF in a quoted extension" => chunked("3;a=\"\n\"\r\nabc\r\n0\r\n\r\n"),
          "a space without a semicolon" => chunked("3 a\r\nabc\r\n0\r\n\r\n"),
          "an extension above 1 KiB" => chunked("3;#{'a' * 1100}\r\nabc\r\n0\r\n\r\n"),
          "extensions above 16 KiB" => chunked("#{"1;#{'a' * 1000}\r\nb\r\n" * 20}0\r\n\r\n")
  refuses [400, 431],
          "a trailer without a colon" => chunked("0\r\nabc\r\n\r\n"),
          "a trailer with a space before it" => chunked("0\r\nA : b\r\n\r\n"),
          "a folded trailer" => chunked("0\r\nA: b\r\n c\r\n\r\n"),
          "a trailer ended by LF" => chunked("0\r\nA: b\n\r\n"),
          "NUL in a trailer" => chunked("0\r\nA: \0\r\n\r\n"),
          "a long trailer" => chunked("0\r\nA: #{'b' * 70_000}\r\n\r\n"),
          "many trailers" => chunked("0\r\n#{"A: b\r\n" * 20_000}\r\n")

  accepts({ "body" => "abc" },
          "leading zeros" => chunked("0003\r\nabc\r\n00\r\n\r\n"),
          "several" => chunked("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"),
          "an extension" => chunked("3;a=b\r\nabc\r\n0;c\r\n\r\n"),
          "white space around its signs" => chunked("3 \t; a \t= b\r\nabc\r\n0\r\n\r\n"),
          "a quoted extension" => chunked("3;a=\"b;c\"\r\nabc\r\n0\r\n\r\n"),
          "an extension of 1000 bytes" => chunked("3;#{'a' * 1000}\r\nabc\r\n0\r\n\r\n"))
  accepts({ "body" => "a" * 26 },
          "small letters" => chunked("1a\r\n#{'a' * 26}\r\n0\r\n\r\n"),
          "capitals" => chunked("1A\r\n#{'a' * 26}\r\n0\r\n\r\n"))
  accepts({ "body" => "a", "HTTP_HOST" => "a", "HTTP_X" => nil,
            "HTTP_TRANSFER_ENCODING" => nil },
          "trailers are no fields" =>
            chunked("1\r\na\r\n0\r\nX: b\r\nHost: evil\r\nContent-Length: 9\r\n\r\n"))
end
