# frozen_string_literal: true

require "test_helper"
require_relative "../support/generations/generations_case"

# Tests a generation that starts its workers in parts, or is judged before it takes effect (Rollout).
class GenerationsRolloutTest < Support::TestCase
  include GenerationsCase

  # A deploy can begin before all workers of the first generation are ready.
  def test_a_generation_is_on_trial_while_a_former_one_serves
    @generations.go
    tick
    hear(1, :loaded, :ready)
    refute_predicate @generations, :on_trial?
    deploy
    assert_predicate @generations, :on_trial?
    die(1)
    refute_predicate @generations, :on_trial?
  end

  # A worker gets the time again when a part of the workers is ready.
  def test_each_part_of_the_workers_gets_the_time
    begin_with([[1, 3], :whole])
    hear(2, :loaded, :ready)
    wait(LIMIT - 1)
    hear(2, :whole)
    wait(LIMIT - 1)
    assert_states :serving, :ready
    wait(1)
    assert_states :serving, :failed
  end

  def test_a_generation_that_is_held_has_no_time_limit
    rollout = begin_with([:hold])
    serve(2)
    wait(LIMIT)
    assert_states :serving, :held
    rollout.verdict = :bad
    tick
    assert_states :serving, :failed
    assert_equal [2, "has too many errors"], @server.failure
  end

  # An error in a judgement must not end the supervisor.
  def test_a_generation_that_cannot_be_judged_is_stopped
    begin_with([:hold], Math::DomainError.new("no number"))
    serve(2)
    assert_states :serving, :failed
    assert_equal [2, "cannot be judged"], @server.failure
    assert_log "error the canary cannot be judged no number"
  end

  def test_a_generation_that_is_good_takes_effect
    rollout = begin_with(%i[hold whole])
    serve(2)
    rollout.verdict = :good
    tick
    assert_states :leaving, :serving
  end

  # When a part of its workers is ready, it starts the next one, and as many former workers leave.
  def test_a_canary_that_is_good_starts_the_other_workers
    rollout = begin_with([:hold, [3, 2], :whole])
    serve(2)
    rollout.verdict = :good
    tick
    rollout.verdict = nil
    assert_states :serving, :ready
    assert_equal([%i[go more more more], %i[go serving fewer fewer]], [2, 1].map { |number| one(number).process.words })
    hear(2, :whole)
    assert_states :leaving, :serving
  end

  def test_without_a_former_generation_no_workers_leave
    rollout = begin_with([[1, 3], :whole])
    tick
    refute rollout.alone
    die(1)
    assert rollout.alone
    serve(2)
    hear(2, :whole)
    assert_equal %i[go go more serving], one(2).process.words
    assert_states :ended, :serving
  end

  # The former master keeps its workers.
  def test_a_generation_that_has_failed_starts_no_more_workers
    begin_with([[1, 3]])
    hear(2, :loaded, :ready)
    wait(LIMIT)
    hear(2, :whole)
    assert_equal([%i[go retire], %i[go serving]], [2, 1].map { |number| one(number).process.words })
  end

  def test_a_worker_that_has_ended_is_noted
    rollout = begin_with([])
    hear(2, :loaded, :ready, :crashed)
    assert_equal 1, rollout.crashes
  end

  private

  # steps: the results of Rollout#step.
  def begin_with(steps, verdict = nil)
    rollout = GenerationsCase::Rollout.new(steps, verdict)
    @server.rollouts = [rollout]
    begin_deploy
    rollout
  end
end
