# frozen_string_literal: true

require "test_helper"
require_relative "support/table"

# Request smuggling: an attacker sends bytes that a proxy and a server split into different requests. The server must
# never read a request from the bytes after a rejected request, or from the body of an accepted request.
class SmugglingTest < Support::TestCase
  include Conform::Table

  HIDDEN = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"

  # Each request has two possible framings. The proxy uses one framing, and a vulnerable server would use the other.
  refuses 400,
          "CL.TE" => post("Content-Length: #{HIDDEN.bytesize + 5}", "Transfer-Encoding: chunked",
                          body: "0\r\n\r\n#{HIDDEN}"),
          "TE.CL" => post("Transfer-Encoding: chunked", "Content-Length: 4",
                          body: "#{HIDDEN.bytesize.to_s(16)}\r\n#{HIDDEN}\r\n0\r\n\r\n"),
          "CL.CL" => post("Content-Length: 0", "Content-Length: #{HIDDEN.bytesize}", body: HIDDEN),
          "CL.CL in a list" => post("Content-Length: 0, #{HIDDEN.bytesize}", body: HIDDEN),
          "CL.0 by a fold" => post("X: a", " Content-Length: #{HIDDEN.bytesize}", body: HIDDEN),
          "TE behind a bare LF" => post("X: a\nTransfer-Encoding: chunked", body: "0\r\n\r\n#{HIDDEN}"),
          "TE behind a bare CR" => post("X: a\rTransfer-Encoding: chunked", body: "0\r\n\r\n#{HIDDEN}"),
          "a chunk whose end is a bare LF" => chunked("1\na\n0\n\n#{HIDDEN}"),
          "a chunk line with LF in its extension" => chunked("1;\n#{HIDDEN}\r\na\r\n0\r\n\r\n"),
          "a chunk that lies about its size" => chunked("1\r\nab\r\n0\r\n\r\n#{HIDDEN}"),
          "a trailer that is a request" => chunked("0\r\n#{HIDDEN}"),
          "a head that ends twice" => "GET / HTTP/1.1\r\nHost: a\r\n\n#{HIDDEN}"
  refuses [400, 501],
          "TE.TE" => post("Transfer-Encoding: chunked", "Transfer-Encoding: cow", body: "0\r\n\r\n#{HIDDEN}"),
          "TE hidden by a byte" => post("Transfer-Encoding: \x01chunked", body: "0\r\n\r\n#{HIDDEN}"),
          "TE hidden by a comma" => post("Transfer-Encoding: chunked,", body: "0\r\n\r\n#{HIDDEN}")

  # Each of these is one request with a body that looks like another request.
  accepts({ "body" => HIDDEN },
          "a body is no request" => post("Content-Length: #{HIDDEN.bytesize}", body: HIDDEN),
          "a chunk is no request" => chunked("#{HIDDEN.bytesize.to_s(16)}\r\n#{HIDDEN}\r\n0\r\n\r\n"),
          "a body of GET is no request" => get("Host: a", "Content-Length: #{HIDDEN.bytesize}") << HIDDEN,
          "a body of HEAD's kin is no request" =>
            post("Content-Length: #{HIDDEN.bytesize}", body: HIDDEN).sub("POST", "DELETE"))

  def test_a_body_that_comes_late_is_no_request
    server = start_application(:tcp)
    server.connect do |client|
      client.write(self.class.post("Content-Length: #{HIDDEN.bytesize}"))
      HIDDEN.each_line { |line| client.write(line) }
      assert_includes client.read_response.body, "body=#{HIDDEN.dump}"
    end
    assert_equal "POST /", server.get("/calls").body
  end

  # The client sends three requests in one write. The server rejects the second request, and the third gets no response.
  def test_a_rejected_request_after_an_accepted_request_ends_the_connection
    server = start_application(:unix)
    server.connect do |client|
      client.write("#{HIDDEN}GET / HTTP/1.1\r\n\r\n#{HIDDEN}")
      assert_equal [200, 400], Array.new(2) { client.read_response.status }
      assert_equal "", client.read_to_end
    end
    assert_equal "GET /hidden", server.get("/calls").body
  end

  # The client sends more bytes after it has read the 400.
  def test_bytes_after_a_rejection_are_no_request
    server = start_application(:tcp)
    server.connect do |client|
      client.write("GET / HTTP/1.1\r\n\r\n")
      assert_equal 400, client.read_response.status
      begin
        3.times { client.write(HIDDEN) }
      rescue Support::Client::Reset
        nil
      end
      client.wait_for_end
    end
    assert_equal "", server.get("/calls").body
  end
end
