# frozen_string_literal: true

require "json"
require "test_helper"

# The access log of a whole server: its formats, its targets, its lines for each kind of request, and its rotation.
class AccessLogTest < Support::TestCase
  APP = <<~RUBY
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/missing" then [404, { "content-type" => "text/plain" }, ["not here"]]
      when "/chunked" then [200, {}, Enumerator.new { |parts| 3.times { parts << "part" } }]
      when "/broken" then [200, { "content-length" => "100" }, ["too short"]]
      when "/reopen" then ObjectSpace.each_object(Bontebok::Core::Worker, &:reopen_logs) && [200, {}, []]
      else [200, { "x-request-id" => "r-1" }, ["ok"]]
      end
    end)
  RUBY
  TIME = %r{\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]}

  def test_each_request_has_a_line_in_the_common_format
    start("common")
    ask_all
    expected = ['"GET / HTTP/1.1" 200 2', '"HEAD /?a=b HTTP/1.1" 200 -', '"GET /missing HTTP/1.1" 404 8',
                '"GET /chunked HTTP/1.1" 200 12', '"GET /broken HTTP/1.1" 200 9', '"nonsense" 400 16']
    lines = lines_after(expected.size)
    assert_equal(expected, lines.map { |line| line[/\A127\.0\.0\.1 - - #{TIME} (.*)\z/, 1] })
  end

  def test_the_combined_format_escapes_bytes_of_clients
    server = start("combined")
    server.get("/", { "User-Agent" => "a\"b\\c\td\xff", "Referer" => "http://example.org/" })
    assert_match(%r{"GET / HTTP/1\.1" 200 2 "http://example\.org/" "a\\x22b\\x5cc\\x09d\\xff"\z}, lines_after(1).first)
  end

  def test_an_ltsv_line_has_the_fields_of_the_request
    start("ltsv").get("/a?b", { "X-Forwarded-For" => "192.0.2.1" })
    fields = lines_after(1).first.split("\t").to_h { |field| field.split(":", 2) }
    assert_equal ["127.0.0.1", "192.0.2.1", "GET /a?b HTTP/1.1", "200", "2", "-", "r-1"],
                 fields.values_at("host", "forwardedfor", "req", "status", "size", "referer", "reqid")
    assert_operator fields["reqtime_microsec"].to_i, :>=, fields["queue_microsec"].to_i
  end

  def test_a_json_line_has_the_fields_of_the_request
    server = start("json")
    started = (Time.now - 2).to_f
    server.get("/ä\"", { "X-Request-Start" => "t=#{started}", "User-Agent" => "\xff" })
    server.connect { |client| client.write("nonsense\r\n\r\n") && client.read_to_end }
    first, second = lines_after(2).map { |line| JSON.parse(line) }
    assert_equal ["/ä\"", 200, 2, "\ufffd", "r-1"],
                 first.values_at("path", "status", "bytes", "user_agent", "request_id")
    assert_in_delta 32_000_000, first["proxy_queue_us"], 30_000_000
    assert_operator first["queue_us"], :<, 2_000_000
    assert_equal [nil, 400, nil], second.values_at("path", "status", "duration_us")
  end

  def test_lines_go_to_the_new_file_after_a_rotation
    server = start("%U")
    server.get("/before")
    lines_after(1)
    File.rename(log, "#{log}.1")
    server.get("/reopen")
    server.get("/after")
    assert_equal %w[/reopen /after], lines_after(2)
    assert_equal ["/before\n"], File.readlines("#{log}.1")
  end

  def test_standard_output_gets_only_lines_of_the_access_log
    out = File.join(temp_dir, "out")
    server = start_bontebok(rackup: APP, args: %w[-w 1 --access-log - --access-log-format] << "line %U", out: out)
    server.get("/a")
    eventually { File.read(out) == "line /a\n" }
    assert_equal "line /a\n", File.read(out)
  end

  def test_all_lines_are_written_when_the_server_stops
    server = start("%U", workers: 2)
    20.times { server.get("/a") }
    server.stop
    assert_equal ["/a\n"] * 20, File.readlines(log)
  end

  def test_a_fifo_that_nobody_reads_loses_lines_but_no_request
    File.mkfifo(log)
    server = start("%U#{"x" * 1000}")
    server.connect do |client|
      300.times do
        client.request("GET", "/")
        assert_equal 200, client.read_response.status
      end
    end
    server.wait_for_output(/access log: a line is lost: Resource temporarily unavailable/)
  end

  private

  def log
    File.join(temp_dir, "access.log")
  end

  def start(format, workers: 1)
    start_bontebok(rackup: APP, args: ["-w", workers, "--access-log", log, "--access-log-format", format])
  end

  def ask_all
    server = children.last
    server.get("/")
    server.request("HEAD", "/?a=b")
    server.get("/missing")
    server.get("/chunked")
    assert_raises(Support::Client::Closed) { server.get("/broken") }
    server.connect { |client| client.write("nonsense\r\n\r\n") && client.read_to_end }
  end

  def lines_after(count)
    eventually { File.exist?(log) && File.readlines(log).size >= count }
    File.readlines(log, chomp: true)
  end
end
