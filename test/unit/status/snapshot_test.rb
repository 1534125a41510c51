# frozen_string_literal: true

require "test_helper"
require_relative "../support/status_case"

class SnapshotTest < Minitest::Test
  include StatusCase

  Snapshot = Bontebok::Status::Snapshot

  def test_values_of_the_right_type_stay
    look = snapshot(waiting: { requests: 4, oldest: 11.5 })
    assert_equal({ requests: 4, oldest: 11.5 }, look.waiting)
    assert_equal [1000.0, NOW, 2, "app"], [look.at, look.time, look.server[:generation], look.server[:tag]]
    assert_equal({ number: 1, tid: 101, state: "idle", taken: nil, queue_time: nil, label: nil, held: nil, kernel: nil,
                   run: nil, cpu: nil }, look.workers.first[:threads].first)
  end

  def test_a_snapshot_without_values_has_every_key
    look = Snapshot.new
    assert_equal [0.0, nil, [], [], 0], [look.at, look.time, look.workers, look.deploys, look.queue_time.count]
    assert_equal({ "1xx" => 0, "2xx" => 0, "3xx" => 0, "4xx" => 0, "5xx" => 0 }, look.totals[:responses])
    assert_equal({ ok: 0, failed: 0, failed_in_a_row: 0, last: nil }, look.totals[:probes]["live"])
    assert_equal [nil, [], 0], look.server.values_at(:state, :trouble, :max_queue)
  end

  def test_values_of_a_wrong_type_become_unknown
    look = Snapshot.new(at: "x", time: Float::NAN, server: [1], waiting: { requests: -1, oldest: Float::INFINITY },
                        totals: { rejected: { nil => "7", queue_full: 2**70 }, gc_time: nil }, workers: [nil, 7],
                        queue_time: "x", deploys: [{ time: -5, text: nil }])
    assert_equal [0.0, nil, nil], [look.at, look.time, look.server[:pid]]
    assert_equal [0, (2**64).to_f], look.waiting.values
    assert_equal({ "?" => 0, "queue_full" => (2**64) - 1 }, look.totals[:rejected])
    assert_equal [2, [0, 0]], [look.workers.size, look.workers.map { |worker| worker[:requests] }]
    assert_equal [{ time: nil, text: "" }], look.deploys
  end

  def test_words_and_letters_that_do_not_exist_become_unknown
    look = snapshot(server: server(state: "\e[2J", by: "me"), workers: [worker(1, threads: [busy(1, 1, run: "SS")])])
    assert_equal [nil, nil, nil], [look.server[:state], look.server[:by], look.workers[0][:threads][0][:run]]
    ["serving".b, :serving].each { |word| assert_equal "serving", snapshot(server: server(state: word)).server[:state] }
  end

  # The kernel shows 0 to a reader without rights, and for a thread that runs.
  def test_the_kernels_0_is_no_function
    assert_nil snapshot(workers: [worker(1, threads: [busy(1, 1, kernel: "0")])]).workers[0][:threads][0][:kernel]
  end

  def test_texts_are_safe
    look = snapshot(workers: [worker(1, threads: [busy(1, 1, label: "GET /\e[2J\xff")])])
    assert_equal "GET /?[2J?", look.workers[0][:threads][0][:label]
  end

  def test_a_name_that_no_field_has_is_a_mistake
    assert_raises(ArgumentError) { Snapshot.new(totls: {}) }
  end

  def test_a_snapshot_of_a_snapshot_is_the_same
    look = snapshot
    assert_equal look.to_h, Snapshot.new(**look.to_h).to_h
  end

  def test_sums
    look = snapshot(workers: [worker(1, threads: [busy(1, 1), idle(2)]), worker(2, threads: [{ state: "between" }])],
                    totals: totals(rejected: { "queue_full" => 5, "queue_timeout" => 2 }))
    assert_equal [3, 1, 163, 7], [look.threads, look.busy, look.responses, look.rejected]
  end
end
