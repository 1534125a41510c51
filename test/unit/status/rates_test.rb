# frozen_string_literal: true

require "test_helper"
require "bontebok/status/rates"
require_relative "../support/status_case"

class RatesTest < Minitest::Test
  include StatusCase

  def test_without_an_earlier_snapshot_each_result_is_nil
    rates = rates_of(snapshot, nil)
    refute rates.known?
    assert_nil rates.seconds
    assert_equal [nil] * 6, [rates.responses, rates.responses("5xx"), rates.growth_of(:rejected),
                             rates.growth(:aborted), rates.service_time, rates.queue_time]
    assert_nil rates.share(snapshot.workers.first, :cpu)
  end

  def test_a_snapshot_that_is_not_earlier_does_not_count
    refute rates_of(snapshot, snapshot).known?
    refute rates_of(snapshot, snapshot(at: 1001.0)).known?
  end

  def test_responses_per_second
    rates = rates_of(snapshot(at: 1002.0, totals: totals(responses: { "2xx" => 180, "5xx" => 4 })), snapshot)
    assert_equal [2.0, 10.5, 0.5], [rates.seconds, rates.responses, rates.responses("5xx")]
  end

  # Another server has answered.
  def test_a_smaller_total_is_no_negative_rate
    now = totals(responses: { "2xx" => 1, "5xx" => 5 }, rejected: { "a" => 1 })
    rates = rates_of(snapshot(at: 1001.0, totals: now),
                     snapshot(totals: totals(rejected: { "a" => 3, "b" => 9 }, aborted: 4)))
    assert_equal [2.0, 2.0, { "a" => 0 }, 0], [rates.responses, rates.responses("5xx"), rates.growth_of(:rejected),
                                               rates.growth(:aborted)]
  end

  def test_a_reason_that_is_new_has_grown_from_zero
    rates = rates_of(snapshot(at: 1001.0, totals: totals(rejected: { "queue_full" => 5 })), snapshot)
    assert_equal({ "queue_full" => 5 }, rates.growth_of(:rejected))
  end

  def test_times_are_those_of_the_interval
    now = Array.new(50, 0).fill(100, 7, 1).fill(3, 40, 1)
    rates = rates_of(snapshot(at: 1001.0, service_time: now), snapshot(service_time: Array.new(50, 0).fill(100, 7, 1)))
    assert_equal [3, 0.00004], [rates.service_time.count, rates.service_time.quantile(0.5)]
  end

  def test_the_share_of_a_worker_is_that_of_the_same_process
    now = snapshot(at: 1002.0, workers: [worker(1, cpu: 6.0), worker(2, cpu: 1.0, pid: 99), worker(3, cpu: nil)])
    rates = rates_of(now, snapshot(workers: [worker(1, cpu: 5.0), worker(2, cpu: 9.0), worker(3, cpu: 1.0)]))
    assert_equal([0.5, nil, nil], now.workers.map { |worker| rates.share(worker, :cpu) })
    assert_equal 0.0, rates_of(now, snapshot(workers: [worker(1, cpu: 7.0)])).share(now.workers.first, :cpu)
  end

  private

  def rates_of(snapshot, earlier) = Bontebok::Status::Rates.new(snapshot, earlier)
end
