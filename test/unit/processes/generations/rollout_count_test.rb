# frozen_string_literal: true

require "test_helper"
require "json"
require "minitest/mock"
require "bontebok/config/config"
require "bontebok/config/supervisor_config"
require "bontebok/processes/generations/generation"
require "bontebok/processes/generations/rollout"

# Tests how many workers a deploy starts.
class RolloutCountTest < Support::TestCase
  CPUS = 4
  # Takes the place of a Cpus.
  module Machine
    def self.count = CPUS
  end

  def test_the_same_option_keeps_the_present_number
    assert_equal [3, false], deploy("auto", "auto", 3)
    assert_equal [6, false], deploy("auto", "auto", 6)
    assert_equal [6, false], deploy("2", "2", 6)
  end

  # Also if the number is that of the CPUs.
  def test_a_number_counts_after_auto
    assert_equal [CPUS, false], deploy("auto", CPUS.to_s, 1)
    assert_equal [8, false], deploy("auto", "8", 1)
    assert_equal [2, false], deploy("8", "2", 8)
  end

  # More workers may start when the new generation serves.
  def test_auto_begins_with_the_present_number_after_a_number
    assert_equal [2, true], deploy("2", "auto", 2)
    assert_equal [CPUS, true], deploy("8", "auto", 8)
  end

  # Another version of Bontebok does not send whether the number is auto.
  def test_auto_of_another_version_keeps_the_present_number
    { %w[auto auto] => true, %w[auto 2] => false, %w[2 auto] => false }.each do |(former, count), auto|
      sent = supervisor_config(count, config(former)) { |data| data.delete("auto") }
      assert_equal auto, sent.auto_workers?, [former, count]
    end
  end

  private

  # Returns the number of workers, and whether it can grow. former, count: the value of MaxWorkers before and now.
  def deploy(former, count, present)
    former = config(former)
    setup = Bontebok::Generation::Setup.new(2, nil, supervisor_config(count, former))
    rollout = Bontebok::Rollout.new(setup, present: present, former: present, former_config: former, report: nil)
    assert_equal rollout.count(present), rollout.first
    [rollout.count(present), rollout.grows?]
  end

  def supervisor_config(count, former)
    data = JSON.parse(JSON.generate(Bontebok::SupervisorConfig.dump(config(count))))
    yield data if block_given?
    Bontebok::SupervisorConfig.new(data, former)
  end

  def config(count)
    Bontebok::Cpus.stub(:new, Machine) { Bontebok::Config.new({ max_workers: [count] }, env: {}) }
  end
end
