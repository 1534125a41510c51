# frozen_string_literal: true

require "test_helper"
require_relative "../../support/generations/mistakes"
require_relative "../../support/generations/search"

# The rules of generations (Succession) in all orders of events, and rules with a mistake: the search finds each.
class GenerationModelTest < Support::TestCase
  # The most that each event may happen, so that all orders are few enough.
  WORLDS = [
    { deploy: 2, fail: 1 },
    { deploy: 2, late: 1 },
    { deploy: 1, die: 1, stop: 1 },
    { deploy: 1, ask: 1, fail: 1 },
    { roll_back: 1, deploy: 1, ask: 1 },
    { ask: 2, die: 1, go_deaf: 1 },
    { deploy: 1, roll_back: 1, go_deaf: 1 },
    { deploy: 1, roll_back: 1, lose_worker: 1, late: 1 },
    { deploy: 1, surge: 1, die: 1, workers: 3 },
    { deploy: 1, surge: 1, fewer: 1, fail: 1, workers: 3 },
    { deploy: 1, roll_back: 1, more: 1, fewer: 1 },
    { deploy: 1, die: 1, roll_back: 1, late: 1 },
    { deploy: 1, die: 1, roll_back: 2 },
    { deploy: 2, roll_back: 1, canary: true, judge_good: 1 },
    { deploy: 1, canary: true, judge_bad: 1, judge_good: 1, lose_worker: 1 }
  ].freeze
  # Takes longer than all others.
  TOGETHER = { deploy: 2, roll_back: 1, die: 1, stop: 1 }.freeze

  def test_all_orders_of_events_keep_the_rules
    WORLDS.each { |world| assert_rules_kept(world) }
  end

  def test_all_orders_of_more_events_keep_the_rules
    skip "only in the long form" unless Support::Length::LONG
    assert_rules_kept(TOGETHER)
  end

  GenerationMistakes::ALL.each do |name, mistake|
    define_method("test_the_search_finds_the_mistake_that_#{name.tr(' ', '_')}") do
      fault = mistake.plant { GenerationSearch.new(**mistake.world).fault }
      assert_equal mistake.fault, fault&.split(":")&.first, fault
    end
  end

  private

  def assert_rules_kept(world)
    search = GenerationSearch.new(**world)
    assert_nil search.fault, world.inspect
    assert_operator search.states, :>, 100, "the world is too small"
  end
end
