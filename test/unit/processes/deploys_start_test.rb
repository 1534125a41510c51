# frozen_string_literal: true

require "test_helper"
require "json"
require_relative "../support/generations/deploys_case"

# Tests how the masters start, and with which numbers.
class DeploysStartTest < Support::TestCase
  include DeploysCase

  # In place of a Canary.
  class CanaryCount
    def count = 1
  end

  # --- starts ---

  def test_the_first_master_is_forked
    @deploys = deploys(0)
    one = start
    assert_equal [1, "1", @config, @listeners], one.setup.to_a
    assert_equal [nil, nil, [[:own]]], [one.start, one.report, @forks]
  end

  # Under rackup, this process has loaded the application.
  def test_with_a_release_all_masters_are_forked
    @deploys = deploys(release: :release)
    one = start
    assert_equal [2, "1", nil, nil], [one.setup.number, one.setup.version, one.start, one.report]
    @deploys.take_effect(one)
    assert_equal one.setup, @deploys.serving
    assert_equal "generation 2 serves (in place of one that died or got a signal)", note
  end

  def test_the_first_master_takes_effect_without_a_note
    @deploys.take_effect(Bontebok::Generation.new(@serving, FakeProcess.new(101)))
    assert_same @serving, @deploys.serving
    assert_nil note
  end

  # --- the master asks ---

  def test_a_master_gets_its_numbers
    one = begin_deploy
    ask(workers: 6)
    assert_equal [6, 6, 6], [one.rollout.first, one.told, @answer["workers"]]
    assert_equal [6, false, 2], @answer.values_at("trial", "canary", "generation")
    assert_equal([6, :hold], [one.rollout.count(4), one.rollout.step(6, 4, 102)])
  end

  # trial: the number of workers that a former generation waits for.
  def test_a_master_that_nobody_would_stay_for
    @generations.whole = false
    one = begin_deploy
    ask
    assert_equal [0, :whole], [@answer["trial"], one.rollout.step(4, 4, 102)]
  end

  # Its clients get all of its errors, and the log only those from before it has the log.
  def test_a_master_that_has_its_answer_writes_to_the_log_itself
    one = begin_deploy
    assert_equal [*one.start.sources, *one.report.sources], @deploys.sources
    @stderr.write("before\n")
    ask
    @stderr.write("after\n")
    @deploys.hear
    assert_equal [%W[before\n], %W[before\n after\n]], [@log.lines, @client.heard]
    assert_equal one.report.sources, @deploys.sources
  end

  def test_a_canary_is_told
    begin_deploy(canary: CanaryCount.new)
    ask
    assert_equal [1, true], @answer.values_at("workers", "canary")
  end

  # A superseded generation loses no workers, because it serves alone.
  def test_a_former_generation_that_is_superseded_loses_no_workers
    begin_deploy
    one = begin_deploy
    ask(surge: 2)
    assert_equal [2, 0], one.rollout.step(2, 4, 103)
  end

  def test_a_refused_master_gets_no_workers
    one = begin_deploy
    @master.say({ protocol: 9 })
    @deploys.hear
    assert_equal [nil, nil, true], [one.rollout, one.told, @master.hear.first.key?("error")]
  end

  private

  # The master sends its configuration, and hears the answer.
  def ask(workers: 4, surge: 0)
    @serving.listeners = listeners # none has a socket
    @serving.config = Bontebok::SupervisorConfig.new(sent(4, surge), Bontebok::Config.new({}, env: {}))
    @master.say({ protocol: 1, version: "1", config: sent(workers, surge), addresses: {}, layouts: nil })
    @deploys.hear
    @answer, descriptors = @master.hear
    descriptors&.each(&:close)
  end

  def sent(workers, surge)
    config = Bontebok::Config.new({ max_workers: [workers.to_s], deploy_surge: [surge.to_s] }, env: {})
    JSON.parse(JSON.generate(Bontebok::SupervisorConfig.dump(config)))
  end
end
