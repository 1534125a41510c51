# frozen_string_literal: true

require "test_helper"
require "bontebok/bontebok"
require "bontebok/status/totals_table"

class TotalsTableTest < Minitest::Test
  Metrics = Bontebok::Core::Metrics

  def setup
    @one, @other = Array.new(2) { Metrics.new(1) }
  end

  def test_totals_are_sums_over_all_memories
    @one.count("rejected queue_full", 3)
    @other.count("rejected queue_full", 2)
    @other.count("rejected max_body")
    @one.count("ended hung", 2)
    @one.count("deploy failed")
    @one.count("probe ready_path 200", 5)
    @other.count("slow requests", 4)
    @other.count("log lines lost", 6)
    found = table.to_h
    assert_equal({ "queue_full" => 5, "max_body" => 1 }, found[:rejected].transform_keys(&:to_s))
    assert_equal [{ "hung" => 2 }, { "failed" => 1 }], found.values_at(:worker_ends, :deploys)
    assert_equal [4, 6, 0, 0, 0.0],
                 found.values_at(:slow_requests, :lost_log_lines, :aborted, :hijacked, :gc_time)
    assert_equal({ ok: 5, failed: 0, failed_in_a_row: 0, last: nil }, found[:probes]["ready"])
    assert_equal [731, 0], [table.times(:queue_time).size, table.times(:queue_time).sum]
  end

  # Another version of the core may not count them.
  def test_files_are_counted
    counted = @one.totals.merge(counters: { files: 7 })
    assert_equal 0, table.to_h[:files]
    assert_equal 7, Bontebok::Status::TotalsTable.new([counted, @other.totals.merge(counters: {})]).to_h[:files]
  end

  def test_a_server_without_totals_has_zeros
    found = Bontebok::Status::TotalsTable.new([])
    assert_equal({ "1xx" => 0, "2xx" => 0, "3xx" => 0, "4xx" => 0, "5xx" => 0 }, found.to_h[:responses])
    assert_nil found.times(:queue_time)
  end

  # The name has the bytes that a worker has written.
  def test_names_may_have_any_bytes
    @one.count("rejected \xff\u00e9".b)
    assert_equal({ "\xff\u00e9".b => 1 }, table.to_h[:rejected])
  end

  private

  def table = Bontebok::Status::TotalsTable.new([@one.totals, @other.totals])
end
