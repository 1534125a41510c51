# frozen_string_literal: true

require "test_helper"
require_relative "../support/generations/generations_case"

# Tests a rollback: the former master, which stays loaded, starts its workers again.
class GenerationsRollbackTest < Support::TestCase
  include GenerationsCase

  def test_a_rollback_lets_the_former_master_start_its_workers_again
    keep_first
    one(1).process.says(:leave) # a word from before
    assert_same one(1), @generations.roll_back
    assert_equal %i[go serving park serve], one(1).process.words
    serve(1)
    assert_equal %i[go serving park serve go serving], one(1).process.words
    assert_states :serving, :kept
    assert_equal [2, true], [@server.started.size, one(1).ordered]
  end

  # Also one that is loaded, whose workers hang in a hook: it does not serve, so the former one is not on trial.
  [[:started, []], [:loaded, %i[loaded]]].each do |state, words|
    define_method("test_a_rollback_takes_the_place_of_a_replacement_that_is_#{state}") do
      keep_first
      die(2)
      tick
      hear(3, *words)
      @generations.roll_back
      serve(1)
      assert_states :serving, :ended, :leaving
      assert_equal 3, @server.started.size
    end
  end

  # So the workers of the former one need not wait for each other.
  def test_a_rollback_hears_go_again_if_the_present_master_dies_at_once
    keep_first
    @generations.roll_back
    die(2)
    hear(1, :loaded)
    assert_equal %i[go serving park serve go go], one(1).process.words
  end

  def test_a_rollback_that_takes_too_long_fails
    keep_first
    @generations.roll_back
    wait(LIMIT)
    assert_states :failed, :serving
  end

  # Some of its workers may serve.
  def test_a_rollback_has_no_limit_while_nobody_else_serves
    keep_first
    die(2)
    @generations.roll_back
    hear(1, :loaded)
    wait(LIMIT)
    assert_equal :loaded, one(1).state
  end

  def test_a_rollback_takes_the_place_of_a_deploy
    keep_first
    deploy
    hear(3, :loaded)
    @generations.roll_back
    assert_states :started, :serving, :leaving
    serve(1)
    assert_states :serving, :kept, :leaving
  end

  def test_nothing_is_rolled_back_if_nothing_is_kept
    begin_deploy
    assert_nil @generations.roll_back
  end
end
