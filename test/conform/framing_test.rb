# frozen_string_literal: true

require "test_helper"
require_relative "support/table"

# RFC 9112 6: where a body ends. If a proxy and this server disagree about the end, an attacker can smuggle a request.
# So every request with an ambiguous end is rejected.
class FramingTest < Support::TestCase
  include Conform::Table

  CHUNKS = "0\r\n\r\n"

  refuses 400,
          "length beside chunks" => post("Content-Length: 5", "Transfer-Encoding: chunked", body: CHUNKS),
          "chunks beside a length" => post("Transfer-Encoding: chunked", "Content-Length: 5", body: CHUNKS),
          "chunks beside a length in 1.0" =>
            "POST / HTTP/1.0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          "chunks in 1.0" => "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          "chunks in 1.0, to be kept" =>
            "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
  refuses 400,
          "two lengths" => post("Content-Length: 1", "Content-Length: 2", body: "ab"),
          "two lengths alike" => post("Content-Length: 1", "Content-Length: 1", body: "a"),
          "two lengths, the second 0" => post("Content-Length: 1", "Content-Length: 0", body: "a"),
          "a list of lengths" => post("Content-Length: 1, 1", body: "a"),
          "a list without space" => post("Content-Length: 1,1", body: "a"),
          "a list of one" => post("Content-Length: 1,", body: "a"),
          "a plus" => post("Content-Length: +1", body: "a"),
          "a minus" => post("Content-Length: -1", body: "a"),
          "minus nothing" => post("Content-Length: -0"),
          "no digit" => post("Content-Length:"),
          "blank" => post("Content-Length: \t"),
          "hexadecimal" => post("Content-Length: 0x1", body: "a"),
          "a letter" => post("Content-Length: 1a", body: "a"),
          "a space inside" => post("Content-Length: 1 1", body: "a"),
          "a fraction" => post("Content-Length: 1.0", body: "a"),
          "an exponent" => post("Content-Length: 1e0", body: "a"),
          "quoted" => post("Content-Length: \"1\"", body: "a"),
          "2^64" => post("Content-Length: 18446744073709551616"),
          "20 nines" => post("Content-Length: #{'9' * 20}"),
          "300 digits" => post("Content-Length: #{'1' * 300}"),
          "a space before the colon" => post("Content-Length : 1", body: "a")
  refuses 400,
          "chunked twice" => post("Transfer-Encoding: chunked, chunked", body: CHUNKS),
          "chunked in two fields" => post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body: CHUNKS),
          "no coding" => post("Transfer-Encoding:", body: CHUNKS),
          "an empty list" => post("Transfer-Encoding: ,", body: CHUNKS),
          "a vertical tab" => post("Transfer-Encoding: chunked\x0B", body: CHUNKS),
          "folded" => post("Transfer-Encoding:", " chunked", body: CHUNKS),
          "a space before the colon of the coding" => post("Transfer-Encoding : chunked", body: CHUNKS)
  refuses [400, 501],
          "an empty one beside chunked" => post("Transfer-Encoding: ,chunked", body: CHUNKS),
          "quoted coding" => post("Transfer-Encoding: \"chunked\"", body: CHUNKS),
          "a parameter" => post("Transfer-Encoding: chunked;q=1", body: CHUNKS),
          "a parameter after a space" => post("Transfer-Encoding: chunked q=1", body: CHUNKS),
          "identity" => post("Transfer-Encoding: identity"),
          "identity beside chunked" => post("Transfer-Encoding: identity, chunked", body: CHUNKS),
          "identity in a second field" =>
            post("Transfer-Encoding: chunked", "Transfer-Encoding: identity", body: CHUNKS),
          "another one after chunked" => post("Transfer-Encoding: chunked, gzip", body: CHUNKS),
          "one that is none, and a length" => post("Transfer-Encoding: xchunked", "Content-Length: 1", body: "a")
  refuses 501,
          "one that ends so" => post("Transfer-Encoding: xchunked", body: CHUNKS),
          "one that begins so" => post("Transfer-Encoding: chunkedx", body: CHUNKS),
          "gzip" => post("Transfer-Encoding: gzip"),
          "gzip before chunked" => post("Transfer-Encoding: gzip, chunked", body: CHUNKS)

  accepts({ "CONTENT_LENGTH" => "3", "body" => "abc" },
          "a length" => post("Content-Length: 3", body: "abc"),
          "white space around it" => post("Content-Length: \t3 \t", body: "abc"),
          "in other letters" => post("content-length: 3", body: "abc"))
  accepts({ "body" => "" },
          "length 0" => post("Content-Length: 0"),
          "neither length nor chunks" => post)
  accepts({ "body" => "abc", "REQUEST_METHOD" => "GET" },
          "a body of a GET" => get("Host: a", "Content-Length: 3") << "abc")
  accepts({ "body" => "abc" },
          "chunked" => chunked("3\r\nabc\r\n0\r\n\r\n"),
          "chunked in other letters" => post("transfer-encoding: ChunKed", body: "3\r\nabc\r\n0\r\n\r\n"),
          "white space around the coding" => post("Transfer-Encoding: \tchunked \t", body: "3\r\nabc\r\n0\r\n\r\n"))
end
