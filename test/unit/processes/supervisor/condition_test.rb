# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/supervisor/condition"

# Tests what the supervisor tells the service manager.
class ConditionTest < Support::TestCase
  # In place of Deploys, Generations, WorkerOrders, FirstStart and Stop.
  Parts = Struct.new(:ordered?, :under_way, :renews?, :serving, :workers) do
    def begun? = false
    def drains? = false
  end
  Started = Struct.new(:under_way?)
  Serving = Struct.new(:number)

  # systemd waits for the end of the reload. The deploy can begin before all workers of the first generation are ready.
  def test_a_deploy_that_was_ordered_is_a_reload
    assert_equal [:reloading, "generation 1 serves with 2 workers"], describe(ordered: true)
    assert_equal [:reloading, "generation 1 serves with 2 workers; a new master starts"],
                 describe(ordered: true, under_way: [:master])
  end

  def test_the_replacement_of_a_dead_master_is_no_reload
    assert_equal [:serving, "generation 1 serves with 2 workers; a new master starts"], describe(under_way: [:master])
  end

  def test_new_workers_are_a_reload
    assert_equal [:reloading, "generation 1 serves with 2 workers; workers are replaced"], describe(renews: true)
  end

  private

  def describe(ordered: false, under_way: [], renews: false)
    parts = Parts.new(ordered, under_way, renews, Serving.new(1), 2)
    Bontebok::Supervisor::Condition.new(parts, parts, [], stop: parts, start: Started.new(false), workers: parts)
                                   .describe
  end
end
