# frozen_string_literal: true

require_relative "support"

# Tests of --rate (an open loop). The tool plans a due time for each request. A slow server does not change the plan.
# The latency of a request counts from its due time.
class RateTest < LoadTest
  def test_also_sends_a_share_of_the_requests_to_another_path
    server = serve(&:respond_to_all)
    options = ["-n", 200, "--also", "0.25:/other", "--seed", 2, "-c", 4, "-t", 2, server.url]
    assert_equal 200, measure(*options)["ok"]
    paths = server.requests.map { |request| request[/\AGET (\S+)/, 1] }.tally
    assert_equal plan("--rate", 1, *options).map(&:last).tally, paths
    assert_in_delta 50, paths.fetch("/other"), 20
  end

  def test_paths_of_a_file_take_turns
    server = serve(&:respond_to_all)
    options = ["-n", 7, "--paths", paths("/a\n/b?c\n/d\n"), "-c", 1, server.url]
    assert_equal 7, measure(*options)["ok"]
    paths = server.requests.map { |request| request[/\AGET (\S+)/, 1] }
    assert_equal %w[/a /b?c /d /a /b?c /d /a], paths
    assert_equal paths, plan("--rate", 1, *options).map(&:last)
  end

  def test_a_dry_run_prints_the_plan_of_a_run_and_sends_nothing
    server = serve(&:respond_to_all)
    options = ["-n", 40, "--rate", 200, "--poisson", "--also", "0.3:/other", server.url]
    told = plan(*options)
    assert_empty server.requests
    assert_equal told, plan("-t", 3, *options)
    result = measure("-c", 1, *options)
    assert_equal(told.map(&:last), server.requests.map { |request| request[/\AGET (\S+)/, 1] })
    assert_operator 40 / (result["requests_per_second"] - 0.05), :>=, told.last.first / 1e6 # printed rounded
  end

  def test_a_dry_run_prints_an_even_rate
    assert_equal [[0.0, "/a"], [2000.0, "/a"], [4000.0, "/a"]], plan("-d", 0.006, "--rate", 500, "http://h/a#b")
  end

  def test_the_tool_sends_all_requests_that_are_due_within_the_duration
    server = serve(&:respond_to_all)
    assert_equal 50, measure("-d", 0.5, "-c", 4, "-t", 2, "--rate", 100, server.url)["ok"]
    assert_equal 50, server.requests.size
  end

  def test_a_duration_ends_the_closed_loop
    server = serve(&:respond_to_all)
    result = measure("-d", 0.5, "-c", 4, server.url)
    assert_operator result["ok"], :>, 10
    assert_equal server.requests.size, result["ok"]
    assert_operator result["ok"] / result["requests_per_second"], :<, 5
  end

  # All connections are busy when a request is due. The timeout of the request counts from its due time, although the
  # tool cannot send the request.
  def test_a_request_that_finds_no_free_connection_times_out
    server = serve { |connection| connection.read_request && connection.socket.read }
    assert_errors({ timeout: 20 }, measure("-n", 20, "-c", 1, "--rate", 1000, "--timeout", 0.1, server.url))
    assert_operator server.requests.size, :<, 20
  end

  # A server that hangs early must not look faster than a server that responds until the end.
  def test_the_rate_counts_the_whole_duration_if_the_server_hangs
    result = measure("-d", 1, "-c", 1, "--timeout", 1, mortal_server.url)
    assert_equal 10, result["ok"]
    assert_operator result["requests_per_second"], :<=, 10
  end

  def test_the_rate_counts_the_time_until_the_last_request_is_sent
    result = measure("-n", 12, "-c", 1, "--timeout", 1, mortal_server.url)
    assert_errors({ timeout: 2 }, result)
    assert_operator result["requests_per_second"], :<=, 10
  end

  def test_the_rate_does_not_count_the_timeout_of_the_last_request
    result = measure("-n", 11, "-c", 1, "--timeout", 1, mortal_server.url)
    assert_errors({ timeout: 1 }, result)
    assert_operator result["requests_per_second"], :>, 10
  end

  private

  # A file with this text.
  def paths(text) = File.join(temp_dir, "paths").tap { |file| File.write(file, text) }

  # Responds to ten requests. Then the server hangs.
  def mortal_server
    serve do |connection|
      10.times { connection.read_request && connection.respond } if connection.number.zero?
      connection.hold
    end
  end
end
