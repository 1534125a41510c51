# frozen_string_literal: true

require_relative "support"

# Tests of --until-errors: the run stops after a number of failed requests.
class UntilErrorsTest < LoadTest
  def test_the_run_stops_after_the_errors
    server = serve(:tcp) do |connection|
      connection.read_request && connection.respond
      connection.read_request && connection.reset
    end
    result = measure("--until-errors", 3, "-n", 1000, "-c", 1, server.url)
    assert_errors({ reset: 3 }, result)
    assert_equal [3, 6], [result["ok"], server.requests.size]
  end

  def test_each_kind_of_error_counts
    responses = ["HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", ""]
    server = serve { |connection| connection.read_request && connection.respond(responses[connection.number % 2]) }
    assert_errors({ status: 2, short: 2 }, measure("--until-errors", 4, "-c", 1, "--close", server.url))
    assert_errors({ refused: 5 }, measure("--until-errors", 5, "-c", 8, refusing_url))
    assert_errors({ refused: 1 }, measure("--until-errors", 1, "-c", 1, "--rate", 1000, refusing_url))
  end

  # The first connection gets no response. The tool does not wait for the timeout of its request.
  def test_requests_in_flight_are_not_counted
    held = Queue.new
    server = serve do |connection|
      connection.read_request
      next (held << true) && connection.hold if connection.number.zero?

      held.pop && connection.respond("")
    end
    process = bench("--until-errors", 1, "-n", 1000, "-c", 2, "--timeout", 600, server.url)
    assert_equal 1, process.status.exitstatus
    assert_match(/^  requests +1$/, process.output.text)
    assert_match(/^  failed +1  short 1$/, process.output.text)
    assert_match(/^  stopped by --until-errors, 1 in flight are not counted$/, process.output.text)
  end

  # One thread has a request without a response when the other thread reaches the limit.
  def test_all_threads_stop
    server = serve do |connection|
      connection.read_request
      connection.number.zero? ? connection.hold : connection.respond("")
    end
    result = measure("--until-errors", 10, "-c", 2, "-t", 2, "--timeout", 600, "-n", 1000, server.url)
    assert_errors({ short: 10 }, result)
  end

  def test_a_run_with_fewer_errors_is_not_stopped
    server = serve do |connection|
      connection.read_request
      connection.respond(connection.number < 2 ? "" : ScriptedServer::OK)
    end
    result = measure("--until-errors", 3, "-n", 20, "-c", 1, "--close", server.url)
    assert_errors({ short: 2 }, result)
    assert_equal 20, result["requests"]
  end

  # Each URL of a table is a run of its own.
  def test_the_next_row_of_a_table_runs
    server = serve(&:respond_to_all)
    process = bench("--table", "--until-errors", 2, "-n", 9, "-c", 1, refusing_url, server.url)
    assert_match(/  refused 2 \(Connection refused\)  stopped by --until-errors$/, process.output.lines[1])
    assert_match(/  0$/, process.output.lines[2])
    assert_equal 1, process.status.exitstatus
  end
end
