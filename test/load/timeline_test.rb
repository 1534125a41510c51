# frozen_string_literal: true

require_relative "support"

# Tests of --timeline: a line for each second of the run.
class TimelineTest < LoadTest
  HEADING = %w[second requests req/s max ms failed].freeze

  if Support::Length::LONG # it takes two seconds
    # The server responds to the second request when two lines have come, so the tool must print and flush these lines
    # while a request is in flight.
    def test_a_line_is_printed_while_the_run_lasts
      lines_printed = Queue.new
      server = serve do |connection|
        connection.read_request && connection.respond
        connection.read_request && lines_printed.pop && connection.respond
      end
      process = start_process(LoadTest::PROGRAM, "--timeline", "--json", "-n", "2", "-c", "1", server.url)
      process.wait_for_output(/("second":.*\n.*){2}/)
      lines_printed << true
      assert_equal 0, process.wait.exitstatus
      process.output.wait_for_end
      *lines, result = parse(process)
      assert_operator lines.size, :>=, 3
      assert_operator lines.last["ok"], :>=, 1
      lines.each { |line| assert_equal line["ok"].zero?, line["latency_us"]["max"].nil?, line }
      assert_sums(lines, result)
    end
  end

  def test_the_lines_count_each_request_once
    responses = { 0 => ScriptedServer::OK, 1 => "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", 2 => "" }
    server = serve do |connection|
      connection.read_request
      connection.respond(responses[connection.number % 3])
    end
    process = bench("--timeline", "--json", "-n", 60, "-c", 4, "-t", 2, "--close", server.url)
    assert_equal 1, process.status.exitstatus
    *lines, result = parse(process)
    assert_equal [60, 20, 20, 20], [result["requests"], result["ok"], *result["errors"].values_at("status", "short")]
    assert_sums(lines, result)
  end

  def test_the_text_form_prints_the_report_after_the_lines
    process = bench("--timeline", "-n", 3, "-c", 1, refusing_url)
    heading, line, *report = process.output.lines(:stdout)
    assert_equal HEADING, heading.split
    assert_match(/\A +\d+\.\d +3 +0\.0 +- +3  refused 3\z/, line)
    assert_match(/\AGET http/, report.first)
    assert_includes report, "  requests    3"
    assert_equal ["", 1], [process.output.text(:stderr), process.status.exitstatus]
  end

  private

  def parse(process)
    process.output.lines(:stdout).map { |line| JSON.parse(line) }
  end

  # Asserts that the numbers of the lines add up to those of the result, and that the slowest request is the same.
  def assert_sums(lines, result)
    %w[requests ok].each { |key| assert_equal result[key], lines.sum { |line| line[key] }, key }
    result["errors"].each { |name, count| assert_equal count, lines.sum { |line| line["errors"][name] }, name }
    assert_equal result["latency_us"]["max"], lines.filter_map { |line| line["latency_us"]["max"] }.max
    times = lines.map { |line| line["second"] }
    assert_equal times.sort, times
  end
end
