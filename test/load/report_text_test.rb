# frozen_string_literal: true

require_relative "support"

# Tests the text form of the tool's result.
class ReportTextTest < LoadTest
  TIME = /\d+\.\d+ (?:us|ms|s)/

  def test_the_text_form_has_all_numbers
    server = serve(&:respond_to_all)
    process = bench("-n", 10, "-c", 2, server.url)
    text = process.output.text(:stdout)
    assert_includes text, "GET #{server.url}\n  2 connections, 1 thread, as fast as responses come\n"
    assert_match(/^  requests +10$/, text)
    assert_match(/^  ok +10  \d+\.\d per second$/, text)
    assert_match(/^  failed +0$/, text)
    assert_match(/^  statuses +200: 10$/, text)
    assert_match(/^  latency +p50 #{TIME}  p90 #{TIME}  p99 #{TIME}  p999 #{TIME}  max #{TIME}$/, text)
    assert_match(/^  this tool +\d+\.\d\d us of CPU per request$/, text)
    assert_equal "", process.output.text(:stderr)
    assert_equal 0, process.status.exitstatus
  end

  # A slow response has milliseconds.
  def test_times_have_a_fitting_unit
    server = serve do |connection|
      connection.read_request
      sleep 0.02
      connection.respond(ScriptedServer::OK)
    end
    assert_match(/  max \d+\.\d\d ms$/, bench("-n", 1, "-c", 1, server.url).output.text(:stdout))
  end

  def test_the_run_ends_after_a_second_if_nobody_listens
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    url = refusing_url
    process = bench("-d", "60s", url)
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, :<, 30
    assert_equal "bontebok bench: #{url}: nobody listens\n", process.output.text(:stderr)
    assert_match(/^  nobody listens: ended after a second, \d+ in flight are not counted$/, process.output.text)
    assert_match(/^  failed +\d+  refused \d+ \(Connection refused\)$/, process.output.text)
    assert_equal 1, process.status.exitstatus
  end

  def test_the_text_form_says_why_requests_failed
    process = bench("-n", 3, refusing_url)
    assert_match(/^  failed +3  refused 3 \(Connection refused\)$/, process.output.text)
    refute_match(/latency|statuses/, process.output.text)
    assert_equal 1, process.status.exitstatus
  end
end
