# frozen_string_literal: true

require_relative "../load/support"

# Tests of --rate (an open loop) that need an idle machine: the tool sends each request when it is due, and only the
# server makes requests late.
class LoadToolRateTest < LoadTest
  include Support::OnceMore

  STALL = 0.3

  # 100 requests are due in one second, and the server stalls for 0.3 s, so 30 requests are late. The server holds one
  # of these requests. The other late requests wait in the tool.
  def test_a_stall_delays_all_requests_that_are_due_during_the_stall
    result = measure("-n", 100, "-c", 1, "--rate", 100, stalling_server.url)
    assert_equal 100, result["ok"]
    assert_operator result["latency_us"]["max"], :>, STALL * 1e6 * 0.95
    assert_operator result["latency_us"]["p99"], :>, STALL * 1e6 * 0.8
    assert_operator result["latency_us"]["p90"], :>, STALL * 1e6 * 0.4
    assert_operator result["latency_us"]["p50"], :<, STALL * 1e6 * 0.5
  end

  # Without --rate (a closed loop), the tool sends no request during the stall, so only one request of a hundred is
  # late.
  def test_a_closed_loop_hides_a_stall
    result = measure("-n", 100, "-c", 1, stalling_server.url)
    assert_operator result["latency_us"]["max"], :>, STALL * 1e6 * 0.95
    assert_operator result["latency_us"]["p90"], :<, STALL * 1e6 * 0.3
  end

  def test_requests_are_sent_at_the_rate
    assert_kept_to_the_rate("--rate", 200)
  end

  def test_poisson_requests_are_sent_at_the_rate
    assert_kept_to_the_rate("--rate", 200, "--poisson", "--seed", 3)
  end

  private

  # Asserts that the requests take about a second, and that no request is sent before its due time. On a busy machine,
  # the last request may be late.
  def assert_kept_to_the_rate(*options)
    options = ["-n", 200, "-c", 10, *options, serve(&:respond_to_all).url]
    last_due = plan(*options).last.first / 1e6
    result = measure(*options)
    assert_equal 200, result["ok"]
    assert_in_delta 1, last_due, 0.2
    assert_includes 0.6..1.01, result["requests_per_second"] * last_due / 200
  end

  # Responds at once to all requests except the 33rd request of a connection: its response comes after STALL seconds.
  def stalling_server
    serve do |connection|
      count = 0
      while connection.read_request
        IO.select(nil, nil, nil, STALL) if (count += 1) == 33
        connection.respond
      end
    end
  end
end
