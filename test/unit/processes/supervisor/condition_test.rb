# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/supervisor/condition"

# Tests what the supervisor tells the service manager.
class ConditionTest < Support::TestCase
  # In place of Deploys, Generations, WorkerOrders, FirstStart and Stop.
  Parts = Struct.new(:on_trial?, :under_way, :renews?, :serving, :workers) do
    def begun? = false
    def drains? = false
  end
  Started = Struct.new(:under_way?)
  Serving = Struct.new(:number)

  # systemd waits for the end of the reload.
  def test_a_deploy_is_a_reload
    assert_equal [:reloading, "generation 1 serves with 2 workers; a new master starts"],
                 describe(on_trial: true, under_way: [:master])
  end

  # It has no time limit.
  def test_a_master_that_starts_in_place_of_a_dead_one_is_no_reload
    assert_equal [:serving, "generation 1 serves with 2 workers; a new master starts"], describe(under_way: [:master])
  end

  def test_new_workers_are_a_reload
    assert_equal [:reloading, "generation 1 serves with 2 workers; workers are replaced"], describe(renews: true)
  end

  private

  def describe(on_trial: false, under_way: [], renews: false)
    parts = Parts.new(on_trial, under_way, renews, Serving.new(1), 2)
    Bontebok::Supervisor::Condition.new(parts, parts, [], stop: parts, start: Started.new(false), workers: parts)
                                   .describe
  end
end
