# frozen_string_literal: true

require "test_helper"
require "bontebok/status/puma"
require_relative "../support/status_case"

class StatusPumaTest < Minitest::Test
  include StatusCase

  # The keys of Puma.stats_hash in Puma 7.0 (those of 6.6, and backlog_max and reactor_max).
  CLUSTER = %i[started_at workers phase booted_workers old_workers worker_status versions].freeze
  WORKER = %i[started_at pid index phase booted last_checkin last_status].freeze
  STATUS = %i[backlog running pool_capacity busy_threads backlog_max max_threads requests_count reactor_max].freeze
  VERSIONS = { puma: "bontebok 1.2.3", ruby: { engine: "ruby", version: "3.1.2", patchlevel: nil } }.freeze

  def test_the_keys_of_a_cluster
    form = form(snapshot)
    assert_equal CLUSTER, form.keys
    assert_equal [WORKER] * 2, form[:worker_status].map(&:keys)
    assert_equal([STATUS.sort] * 2, form[:worker_status].map { |status| status[:last_status].keys.sort })
    assert_equal VERSIONS, form[:versions]
  end

  def test_the_keys_of_one_process
    single = snapshot(server: server(mode: "single", workers: 0))
    [single, snapshot(server: server(mode: "single"), workers: [])].each do |look|
      assert_equal [:started_at, *STATUS, :versions].sort, form(look).keys.sort
    end
    assert_equal 163, form(single)[:requests_count]
  end

  def test_the_values_of_a_cluster
    first = worker(1, threads: [busy(1, 1), idle(2)], silent: 2.0, connections: { header: 3, body: 1 })
    form = form(snapshot(workers: [first, worker(2, generation: 1)], waiting: { requests: 3, oldest: 1.0 }))
    assert_equal ["2026-11-26T03:10:00Z", 2, 2, 2, 1], form.values_at(*CLUSTER.first(5))
    first = form[:worker_status].first
    assert_equal ["2026-11-29T03:02:00Z", 10_845, 0, 2, true, "2026-11-29T03:09:58Z"], first.values_at(*WORKER.first(6))
    assert_equal({ backlog: 2, running: 2, pool_capacity: 1, busy_threads: 3, backlog_max: 2, max_threads: 2,
                   requests_count: 163, reactor_max: 4 }, first[:last_status])
  end

  # All workers share one queue, and monitors add up.
  def test_the_sum_of_the_backlogs_is_the_number_of_waiting_requests
    form = form(snapshot(workers: (1..5).map { |n| worker(n) }, waiting: { requests: 13, oldest: 1.0 }))
    assert_equal([3, 3, 3, 2, 2], form[:worker_status].map { |status| status[:last_status][:backlog] })
  end

  def test_the_patchlevel_of_ruby
    assert_equal({ engine: "ruby", version: "3.1.2", patchlevel: 20 },
                 form(snapshot(server: server(ruby: "3.1.2p20")))[:versions][:ruby])
  end

  private

  def form(snapshot) = Bontebok::Status::Puma.of(snapshot)
end
