# frozen_string_literal: true

require "json"
require "test_helper"
require "bontebok/config/config"
require "bontebok/sockets/worker_links"
require "bontebok/workers/stats/server_stats"
require "bontebok/workers/stats/this_server"

# Bontebok.stats where no server runs, and with memory that the test makes.
class ServerStatsTest < Support::TestCase
  PUMA = %i[started_at workers phase booted_workers old_workers worker_status versions].freeze
  NUMBERS = %i[time server waiting totals queue_time service_time processes deploys ends busy threads].freeze

  def teardown
    @links&.close
    super
  end

  def test_without_a_server_the_keys_are_the_same
    found = Bontebok.stats
    assert_equal (PUMA + NUMBERS).sort, found.keys.sort
    assert_equal [[], [], 0, nil, 0], [*found.values_at(:worker_status, :processes, :busy), found[:server][:state],
                                       found[:totals][:responses].values.sum]
    assert_equal "bontebok #{Bontebok::VERSION}", found[:versions][:puma]
  end

  def test_a_process_that_has_no_lane_yet
    found = stats(mode: "cluster", generation: 3)
    assert_equal (PUMA + NUMBERS).sort, found.keys.sort
    assert_equal [4, 3, 0], found.values_at(:workers, :phase, :booted_workers)
    assert_equal [Process.pid, 3, 2, 9, nil], found[:server].values_at(:pid, :generation, :threads, :max_queue, :state)
    assert_in_delta Time.now.to_f, found[:server][:started], 600
    assert_equal({ requests: 0, oldest: nil }, found[:waiting])
    assert JSON.generate(found)
  end

  def test_one_process_has_the_keys_of_puma
    found = stats(mode: "single", generation: 1)
    assert_equal [0, 0, 0, []], found.values_at(:backlog, :running, :requests_count, :processes)
    refute_includes found, :worker_status
  end

  def test_the_notes_tell_the_generation
    links.totals.note(:deploy, "generation 7 serves (rollback)")
    links.totals.count("rejected queue_full", 2)
    found = stats(mode: "cluster", generation: 3)
    assert_equal [7, 7, "rollback"], [found[:phase], *found[:server].values_at(:generation, :by)]
    assert_equal({ "queue_full" => 2 }, found[:totals][:rejected])
    assert_equal(["generation 7 serves (rollback)"], found[:deploys].map { |note| note[:text] })
  end

  # As in a worker that ends, and in a process that the application has forked.
  def test_closed_descriptors_leave_the_memory
    links.totals.deployed("failed", "generation 2 failed: why")
    links.disown
    found = stats(mode: "cluster", generation: 1)
    assert_equal [{ requests: nil, oldest: nil }, { "failed" => 1 }], [found[:waiting], found[:totals][:deploys]]
  end

  def test_the_server_of_the_process_comes_first
    own, embedded = %w[cluster single].map { |mode| { mode: mode } }
    first = this_server.embed(**embedded)
    second = this_server.embed(**embedded)
    assert_same second, this_server.facts
    this_server.remove(second)
    assert_same first, this_server.facts
    this_server.is(**own)
    assert_equal "cluster", this_server.facts.mode
  end

  private

  def links = @links ||= Bontebok::WorkerLinks.open

  def stats(**facts)
    config = Bontebok::Config.new(defaults: { max_workers: 4, threads: 2, max_queue: 9 })
    Bontebok::ServerStats.of(Bontebok::ThisServer::Facts.new(links: links, config: config, pid: Process.pid, **facts))
  end

  # A copy, so that other tests see no server.
  def this_server
    @this_server ||= Bontebok::ThisServer.clone.tap { |copy| copy.instance_variable_set(:@embedded, []) }
  end
end
