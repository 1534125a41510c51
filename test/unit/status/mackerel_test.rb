# frozen_string_literal: true

require "test_helper"
require "bontebok/status/mackerel"
require_relative "../support/status_case"

class StatusMackerelTest < Minitest::Test
  include StatusCase

  Mackerel = Bontebok::Status::Mackerel
  LINE = /\A[-\w.]+\t\d+(?:\.\d+)?\t#{StatusCase::NOW.to_i}\n\z/

  def test_the_first_look_has_no_differences
    assert_equal <<~TEXT, Mackerel.lines(snapshot(waiting: { requests: 4, oldest: 1.5 }))
      bontebok.workers.busy_workers\t0\t1795921800
      bontebok.workers.idle_workers\t4\t1795921800
      bontebok.waiting.requests\t4\t1795921800
      bontebok.waiting.accept_queue\t0\t1795921800
      bontebok.oldest.oldest\t1500.0\t1795921800
      bontebok.memory.pss\t205520896\t1795921800
    TEXT
  end

  # A sum over some of them would be a step in a graph.
  def test_an_unknown_value_has_no_line
    { "memory.pss" => { workers: [worker(1), worker(2, pss: nil)] }, "waiting.accept_queue" => { accept_queues: [] },
      "oldest.oldest" => { waiting: {} }, "waiting.requests" => { waiting: {} },
      "workers.busy_workers" => { workers: [], server: server(hidden: true) },
      "workers.idle_workers" => { workers: [], server: server(hidden: true) } }
      .each { |name, fields| refute_match(/\.#{name}\t/, Mackerel.lines(snapshot(**fields)), name) }
    assert_match(/^bontebok\.oldest\.oldest\t0\.0\t/, Mackerel.lines(snapshot))
  end

  def test_differences_are_per_minute
    lines = Mackerel.lines(later, snapshot(totals: totals(bytes_out: 1024))).lines
    assert_empty lines.grep_v(LINE)
    ["req.requests\t105.0", "bytes.bytes_sent\t30.0", "status.2xx\t100.0", "status.5xx\t5.0", "rejected.rejected\t35.0",
     "service_time.p99\t0.04"].each { |text| assert_includes lines, "bontebok.#{text}\t1795921800\n" }
    assert_empty lines.grep(/queue_time/)
  end

  def test_the_names_of_the_plugin_for_plack
    lines = Mackerel.lines(later, snapshot)
    %w[workers.busy_workers workers.idle_workers req.requests bytes.bytes_sent]
      .each { |name| assert_match(/^bontebok\.#{Regexp.escape(name)}\t/, lines) }
  end

  def test_each_line_has_a_graph
    graphs = Mackerel.definitions[:graphs]
    named = graphs.flat_map { |graph, one| one[:metrics].map { |metric| "#{graph}.#{metric[:name]}" } }
    times = { service_time: Array.new(50, 0).fill(3, 40, 1), queue_time: Array.new(50, 0).fill(3, 40, 1) }
    assert_equal named.sort, Mackerel.lines(later(**times), snapshot).lines.map { |line| line[/\A\S+/] }.sort
    assert_equal %w[bontebok.workers integer], ["bontebok.workers", graphs["bontebok.workers"][:unit]]
  end

  private

  # The same server 12 seconds later.
  def later(**fields)
    snapshot(at: 1012.0, totals: totals(responses: { "2xx" => 180, "5xx" => 4 }, rejected: { "queue_full" => 7 },
                                        bytes_out: 7168), service_time: Array.new(50, 0).fill(3, 40, 1), **fields)
  end
end
