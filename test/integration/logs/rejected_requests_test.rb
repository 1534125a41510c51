# frozen_string_literal: true

require "json"
require "test_helper"

# Why the server rejects requests: in the server's log, at most once per second and reason, and in the access log.
class RejectedRequestsTest < Support::TestCase
  APP = "run ->(env) { [200, {}, [env['rack.input'].read.to_s]] }"
  REASON = "{reason}n"
  FORMAT = "%>s %#{REASON}".freeze
  GET = "GET / HTTP/1.1\r\n"
  POST = "POST / HTTP/1.1\r\nHost: a\r\n"
  # { reason in the access log => [status, text in the server's log, request] }
  CASES = {
    "tls" => [400, "a TLS handshake: the server speaks plain HTTP", "\x16\x03\x01\x02\x00\x01\x00"],
    "two_hosts" => [400, "two Host fields", "#{GET}Host: a\r\nHost: b\r\n\r\n"],
    "bare_lf" => [400, "a line ends with LF without CR", "GET / HTTP/1.1\nHost: a\n\n"],
    "length_and_chunked" => [400, "Content-Length beside Transfer-Encoding",
                             "#{POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    "http2" => [505, "HTTP/2: the server speaks HTTP/1", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    "proxy_protocol" => [400, "a PROXY protocol header, which is not supported",
                         "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n#{GET}Host: a\r\n\r\n"],
    "connect" => [501, "CONNECT: the server is no tunnel", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"],
    "large_body" => [413, "max_body: the body is too large", "#{POST}Content-Length: 101\r\n\r\n"],
    "bad_chunk_size" => [400, "a chunk without a valid size", "#{POST}Transfer-Encoding: chunked\r\n\r\n0x5\r\n"],
    "control_byte" => [400, "a control byte in a field value", "#{GET}Host: a\r\nX: \e[2J\r\n\r\n"]
  }.freeze

  def test_a_rejected_request_has_its_reason_in_both_logs
    server = start(FORMAT)
    CASES.each do |reason, (status, text, request)|
      assert_equal status, ask(server, request), reason
      server.wait_for_output(/ info \d+ w1 g1 127\.0\.0\.1: #{Regexp.escape(text)} \(#{status}\)$/)
    end
    assert_equal 200, server.get("/").status
    expected = CASES.map { |reason, rest| "#{rest.first} #{reason}" }
    assert_equal (expected << "200 -").sort, lines_after(CASES.size + 1).sort
    assert_match(/\A[\n -~]+\z/, server.output.text.b)
  end

  def test_a_json_line_has_the_reason
    server = start("json")
    ask(server, "#{GET}\r\n")
    server.get("/")
    entries = lines_after(2).map { |line| JSON.parse(line) }
    assert_equal([nil, "no_host"], entries.map { |entry| entry.fetch("reason") }.sort_by(&:to_s))
    assert_equal(%w[HTTP/1.1 HTTP/1.1], entries.map { |entry| entry.fetch("protocol") })
  end

  def test_a_body_that_the_application_reads_has_its_reason_too
    server = start(FORMAT, "--unbuffered-bodies", "/")
    assert_equal 400, ask(server, "#{POST}Transfer-Encoding: chunked\r\n\r\n5\nhello")
    server.wait_for_output(/ info \d+ w1 g1 127\.0\.0\.1: a line ends with LF without CR \(400\)$/)
    assert_equal ["400 bare_lf"], lines_after(1)
  end

  # The flood keeps both threads and the I/O thread busy.
  def test_a_flood_has_one_line_per_second_and_no_rejection_is_lost
    server = start("%>s", "-t", "2")
    started = Support::Deadline.now
    flood(server, 400)
    assert_equal 0, server.stop.exitstatus
    assert_operator lines_of(server, "two Host fields").size, :<=, (Support::Deadline.now - started).ceil + 3
    assert_equal 1600, logged(server, "two Host fields")
  end

  def test_the_number_is_logged_a_second_later_although_no_request_comes
    server = start("%>s")
    5.times { assert_equal 400, ask(server, "#{GET}\r\n") }
    eventually(seen: -> { server.output.text }) { logged(server, "no Host field") == 5 }
  end

  def test_the_level_warn_hides_mistakes_of_clients
    server = start_bontebok(ready: false, args: %w[-w 1 --log-level warn], rackup: APP)
    eventually { Support::Client.accepted?(socket) }
    Support::Client.open(socket) { |client| client.write("#{GET}\r\n") && client.read_to_end }
    server.stop
    assert_empty server.output.text
  end

  private

  def log
    File.join(temp_dir, "access.log")
  end

  def socket = "unix:#{temp_dir}/bontebok.sock"

  def start(format, *args)
    start_bontebok(rackup: APP, listen: :tcp, args: ["-w", "1", "--max-body", "100", "--access-log", log,
                                                     "--access-log-format", format, *args])
  end

  def ask(server, request)
    server.connect do |client|
      client.write(request)
      client.read_response.status
    end
  end

  def flood(server, count)
    Array.new(4) { Thread.new { count.times { ask(server, CASES.fetch("two_hosts").last) } } }.each(&:join)
  end

  def lines_of(server, text)
    server.output.lines.grep(/: #{text} \(\d+\)/)
  end

  # The number of rejections that the server's log has.
  def logged(server, text)
    lines_of(server, text).sum { |line| 1 + line[/, and (\d+) more like it$/, 1].to_i }
  end

  def lines_after(count)
    eventually { File.exist?(log) && File.readlines(log).size >= count }
    File.readlines(log, chomp: true)
  end
end
