# frozen_string_literal: true

require "json"
require "test_helper"
require "bontebok/status/json"
require_relative "../support/status_case"

class StatusJsonTest < Minitest::Test
  include StatusCase

  # Programs rely on these keys.
  KEYS = %w[at time server waiting accept_queues totals queue_time service_time workers deploys ends busy threads causes
            rates].freeze

  def test_the_keys
    form = parsed(snapshot)
    assert_equal KEYS.sort, form.keys.sort
    assert_equal [4, 0, 2, 160], [form["threads"], form["busy"], form["server"]["generation"],
                                  form["totals"]["responses"]["2xx"]]
    assert_nil form["rates"]
  end

  def test_a_histogram_has_quantiles_and_bounds
    counts = Array.new(731, 0)
    [3000, 7000, 7000, 2_000_000].each { |time| counts[Bontebok::Status::Histogram.bucket(time)] += 1 }
    times = parsed(snapshot(service_time: counts))["service_time"]
    assert_equal [4, 1, 3, 4], [times["count"], *times["below"].values_at("0.005", "0.01", "2.5")]
    assert_in_delta 0.007, times["p50"], 0.00035
    assert_in_delta 2.0, times["p99"], 0.1
    assert_in_delta 2.017, times["sum"], 0.1
  end

  def test_causes_name_their_worker
    form = parsed(snapshot(server: server(trouble: ["x"]),
                           workers: [worker(7, threads: [busy(1, 4.5), idle(2)], silent: 4.2)]))
    held = { "kind" => "lock_held", "text" => "RUBY'S LOCK IS HELD for 4 s", "seconds" => 4.2, "worker" => 7,
             "pid" => 10_851 }
    assert_equal [{ "kind" => "trouble", "text" => "x", "seconds" => nil, "worker" => nil, "pid" => nil }, held],
                 form["causes"]
  end

  def test_rates_since_the_last_look
    now = snapshot(at: 1002.0, totals: totals(responses: { "2xx" => 180, "5xx" => 3 }, rejected: { "queue_full" => 1 }))
    rates = parsed(now, snapshot)["rates"]
    assert_equal [2.0, 10.0, 0.0, { "queue_full" => 1 }], rates.values_at("seconds", "responses", "errors", "rejected")
    assert_equal({ "p50" => nil, "p95" => nil, "p99" => nil, "p999" => nil }, rates["service_time"])
  end

  private

  def parsed(*looks) = JSON.parse(JSON.generate(Bontebok::Status::Json.of(*looks)))
end
