# frozen_string_literal: true

require "test_helper"
require_relative "../support/generations/deploys_case"

# Tests orders of deploys and rollbacks: what becomes of them, and who hears of it.
class DeploysTest < Support::TestCase
  include DeploysCase

  # --- orders ---

  def test_a_deploy_is_an_order_until_its_master_is_started
    refute_predicate @deploys, :busy?
    @deploys.deploy(clients: [@client], canary: :canary)
    assert_equal [true, [:renew]], [@deploys.busy?, @generations.calls]
    one = start
    assert_equal [2, true, :canary], [one.setup.number, one.ordered, one.start.canary]
    assert_equal [@client, true], [one.report.client, @deploys.busy?]
    one.report = nil # it serves
    refute_predicate @deploys, :busy?
  end

  # With deploy_surge, the memory is scarce.
  def test_a_deploy_with_surge_releases_the_kept_generation_first
    @config.surge = 1
    @deploys.deploy
    assert_equal %i[release renew], @generations.calls
  end

  def test_a_master_that_replaces_a_dead_one_is_no_order
    one = start
    assert_equal [false, nil, nil], [one.ordered, one.start.canary, one.report.client]
    one.report.succeed
    assert_equal "generation 2 serves (in place of one that died or got a signal)", note
  end

  def test_a_fork_that_fails_keeps_the_order
    @deploys.deploy(clients: [@client], canary: :canary)
    open = Support::ProcessTable.descriptors(Process.pid)
    assert_raises(Errno::EAGAIN) { start(fault: Errno::EAGAIN) }
    [@master, @stderr].each(&:close)
    assert_empty Support::ProcessTable.descriptors(Process.pid).to_a - open.to_a
    assert_predicate @deploys, :busy?
    assert_raises(Errno::EAGAIN) { start(fault: Errno::EAGAIN) }
    assert_equal ["the new master cannot be started: Resource temporarily unavailable; the server tries again"],
                 @client.heard
    assert_equal [@client, :canary], [start.report.client, @generations.all.last.start.canary]
  end

  # It executes a program. This ends its copies.
  def test_an_executed_master_could_have_no_descriptor_of_the_supervisor
    begin_deploy
    assert_equal [[], true], [@forks.last, @deploys.sources.all?(&:close_on_exec?)]
  end

  def test_the_last_order_counts
    @deploys.deploy(clients: [@client])
    @deploys.deploy(clients: [other = Client.new])
    assert_equal [[1, Bontebok::Deploys::REPLACED], nil], [@client.finish_with, other.finish_with]
    assert_same other, start.report.client
  end

  # It leaves, or continues until the next one is ready if nobody else serves.
  def test_a_deploy_replaces_those_that_are_under_way
    clients = Array.new(2) { Client.new }
    leaving, continuing = clients.map { |client| begin_deploy(clients: [client]) }
    configure(leaving)
    leaving.leave(:retire, 10)
    @deploys.deploy
    assert_equal([[1, Bontebok::Deploys::REPLACED]] * 2, clients.map(&:finish_with))
    assert_equal [:discard], @listeners.steps # of the one that leaves
    assert_equal [continuing], @generations.under_way
    assert_equal 2, total("superseded")
  end

  def test_a_rollback_is_an_order
    @generations.kept = kept = generation(1)
    @deploys.roll_back([@client])
    assert_log "info the command rollback: the former master starts workers"
    assert_equal [@client, true], [kept.report.client, @deploys.busy?]
    kept.report.succeed
    assert_equal [0, "generation 1 serves again"], @client.finish_with
  end

  # So a master that hangs while it starts again does not prevent a rollback.
  def test_a_rollback_supersedes_the_replacement_of_a_dead_master
    one = start
    assert_equal [true, false], [@deploys.busy?, @deploys.ordered?]
    one.leave(:retire, 5) # as Generations does
    @generations.kept = generation(1)
    @deploys.roll_back([@client])
    assert_equal "generation 2 is superseded: a rollback has replaced this one", note
    @deploys.ended(one)
    assert_equal [@client, nil], [@generations.kept.report.client, @client.finish_with]
  end

  def test_a_deploy_is_ordered
    @deploys.deploy
    assert_predicate @deploys, :ordered?
    start
    assert_predicate @deploys, :ordered?
  end

  # --- what else ends orders ---

  def test_a_stop_ends_all_orders
    under_way = begin_deploy
    @deploys.deploy(clients: [waiting = Client.new])
    @deploys.discard("the server stops")
    assert_equal [1, "the server stops"], waiting.finish_with
    assert_equal [[1, Bontebok::Deploys::REPLACED], []], [@client.finish_with, @deploys.sources]
    assert_predicate under_way.start, :answered?
    under_way.change(:end)
    @generations.all.clear
    refute_predicate @deploys, :busy?
  end

  def test_a_stop_ends_a_deploy_that_is_under_way
    begin_deploy
    @deploys.discard("the server stops")
    assert_equal [[1, "the server stops"], "generation 2 failed: the server stops"], [@client.finish_with, note]
  end

  # The generation serves on in the new program, which knows nobody who waits.
  def test_another_program_of_the_supervisor_supersedes_the_deploys
    begin_deploy
    @deploys.supersede
    assert_equal [1, Bontebok::Deploys::REPLACED], @client.finish_with
    assert_equal "generation 2 is superseded: another deploy has replaced this one", note
  end

  def test_a_master_that_ends_ends_its_deploy
    one = begin_deploy
    configure(one)
    one.process.ended(Struct.new(:exitstatus, :signaled?).new(3, false))
    @stderr.write("no such file\n")
    @deploys.ended(one)
    assert_equal "generation 2 failed: no such file", note
    assert_equal [1, "the new master has ended: exit status 3"], @client.finish_with
    assert_equal [[:discard], [:ended], []], [@listeners.steps, @heard, @deploys.sources]
  end

  def test_a_master_without_a_report_ends
    @deploys.ended(generation(1))
    assert_equal [:ended], @heard
    assert_nil note
  end

  private

  def generation(number)
    setup = Bontebok::Generation::Setup.new(number, "1", @config, @listeners)
    Bontebok::Generation.new(setup, FakeProcess.new(100 + number))
  end

  def total(result) = @totals.memories.first.totals[:names]["deploy #{result}"]
end
