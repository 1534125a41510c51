# frozen_string_literal: true

require "test_helper"
require "bontebok/status/diagnosis"
require_relative "../support/status_case"

class ServerRulesTest < Minitest::Test
  include StatusCase

  def test_a_healthy_server_has_no_cause
    assert_empty causes(snapshot(server: server(max_queue: 10), waiting: { requests: 9, oldest: 0.1 }))
    assert_empty causes(Bontebok::Status::Snapshot.new)
  end

  def test_trouble_comes_first
    sentence = "the supervisor (pid 12) is stopped (SIGSTOP)"
    assert_equal [sentence, "NO WORKER SERVES: there must be 2"],
                 causes(snapshot(workers: [], server: server(trouble: [sentence])))
  end

  def test_a_server_that_starts_or_stops_may_be_without_workers
    %w[starting stopping].each { |state| assert_empty causes(snapshot(workers: [], server: server(state: state))) }
    assert_equal 1, causes(snapshot(workers: [], server: server(state: "draining"))).size
  end

  def test_workers_that_cannot_be_seen_may_serve
    assert_empty causes(snapshot(workers: [], server: server(hidden: true)))
  end

  def test_nobody_accepts
    queue = { address: "http://[::1]:80", length: 820, limit: 1024 }
    assert_equal ["NOBODY ACCEPTS on http://[::1]:80: accept queue 820 of 1024"],
                 causes(snapshot(accept_queues: [queue, { address: "b", length: 819, limit: 1024 }]))
    assert_empty causes(snapshot(accept_queues: [{ address: "unix:/a", length: 5, limit: 0 }]))
  end

  def test_max_queue_is_full
    assert_equal ["MAX_QUEUE IS FULL: 10 requests waiting, max_queue 10"],
                 causes(snapshot(server: server(max_queue: 10), waiting: { requests: 10, oldest: 1.0 }))
    assert_empty causes(snapshot(waiting: { requests: 10, oldest: 1.0 }))
  end

  def test_max_queue_was_full_between_two_looks
    earlier = snapshot(totals: totals(rejected: { "queue_full" => 5, "queue_timeout" => 1 }))
    now = { at: 1001.0, server: server(max_queue: 10), waiting: { requests: 1, oldest: nil } }
    assert_equal ["MAX_QUEUE IS FULL: 1 request waiting, max_queue 10, 2 rejected in 1.0 s"],
                 causes(snapshot(**now, totals: totals(rejected: { "queue_full" => 7 })), earlier)
    assert_empty causes(snapshot(**now, totals: totals(rejected: { "queue_full" => 5, "queue_timeout" => 9 })), earlier)
  end

  private

  def causes(snapshot, earlier = nil)
    Bontebok::Status::Diagnosis.new(snapshot, earlier).server.map(&:text)
  end
end
