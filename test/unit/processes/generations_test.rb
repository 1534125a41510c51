# frozen_string_literal: true

require "test_helper"
require_relative "../support/generations/generations_case"

# Tests when a new generation takes the place of the former one.
class GenerationsTest < Support::TestCase
  include GenerationsCase

  def test_the_former_generation_serves_until_the_next_one_is_whole
    begin_deploy
    hear(2, :loaded, :ready)
    assert_states :serving, :ready
    hear(2, :whole)
    assert_states :leaving, :serving
    wait(GRACE)
    assert_states :leaving, :serving
    assert_log "info master (pid 101) leaves when its replacement is ready"
    die(1, "exit status 0")
    assert_log "info master (pid 101) has left: exit status 0"
  end

  def test_the_server_hears_of_each_master_that_is_loaded_serves_and_ends
    begin_deploy
    serve(2)
    die(1)
    assert_equal [[:loaded, 1], [:serves, 1], [:loaded, 2], [:serves, 2], [:ended, 1]], @server.calls
    assert_equal [nil, nil, []], [one(2).report, one(2).rollout, @generations.under_way]
  end

  def test_a_generation_that_is_not_whole_in_time_is_stopped_and_the_former_one_stays
    begin_deploy
    hear(2, :loaded, :ready)
    wait(LIMIT - 1)
    assert_states :serving, :ready
    wait(1)
    assert_states :serving, :failed
    assert_log "error master (pid 102) did not get all of its workers ready within 60 s: it is stopped"
    die(2)
    wait(LIMIT)
    assert_states :serving, :ended
  end

  def test_a_generation_that_does_not_load_in_time_is_stopped_as_well
    begin_deploy
    wait(LIMIT)
    assert_states :serving, :failed
    assert_equal [%i[retire], %i[TERM]], [one(2).process.words, one(2).process.signals]
  end

  # A generation that was not whole in time does not count as a failed start, so no pause follows.
  def test_the_next_deploy_tries_again
    begin_deploy
    hear(2, :loaded, :ready)
    wait(LIMIT)
    deploy
    serve(3)
    assert_states :leaving, :failed, :serving
  end

  def test_a_deploy_replaces_a_generation_that_is_not_whole_yet
    begin_deploy
    hear(2, :loaded, :ready)
    deploy
    assert_log "info master (pid 102) is replaced before it was ready"
    hear(3, :loaded, :ready)
    assert_states :serving, :leaving, :ready
    hear(3, :whole)
    assert_states :leaving, :leaving, :serving
  end

  def test_a_former_generation_that_stayed_is_replaced_when_it_ends
    begin_deploy
    wait(LIMIT)
    die(2)
    die(1)
    tick
    serve(3)
    assert_states :ended, :ended, :serving
  end

  def test_a_generation_without_a_former_one_has_no_limit
    begin_deploy
    hear(2, :loaded, :ready)
    die(1)
    wait(LIMIT)
    assert_states :ended, :ready
  end

  # So its workers need not wait for each other any longer.
  def test_a_master_hears_go_again_when_its_former_generation_has_gone
    begin_deploy
    hear(2, :loaded)
    assert_equal [:go], one(2).process.words
    die(1)
    assert_equal %i[go go], one(2).process.words
    tick
    assert_equal %i[go go], one(2).process.words
  end

  def test_a_stop_ends_both_generations
    begin_deploy
    hear(2, :loaded, :ready)
    @generations.stop(:drain)
    die(1)
    refute_predicate @generations, :empty?
    die(2)
    assert_predicate @generations, :empty?
    wait(LIMIT)
    assert_states :ended, :ended
  end

  # It has asked for it with :leave (a signal, or the application).
  def test_a_master_that_asks_is_replaced_if_it_is_alone
    begin_deploy
    hear(1, :leave)
    serve(2)
    hear(2, :leave)
    assert_equal 2, @server.started.size
    die(1)
    tick
    assert_equal 3, @server.started.size
    assert_states :ended, :serving, :started
  end

  # The Clock does not count the time while this process is frozen.
  def test_the_loop_waits_until_the_next_limit
    begin_deploy
    hear(2, :loaded, :ready)
    assert_equal now + LIMIT, @generations.deadline
    hear(2, :whole)
    assert_equal now + GRACE + Bontebok::Generations::MASTER_SECONDS, @generations.deadline
    die(1)
    assert_nil @generations.deadline
  end

  def test_the_limit_is_the_time_for_a_worker_to_become_ready
    { 60 => 60, 0 => Float::INFINITY }.each do |seconds, expected|
      assert_equal expected, Bontebok::Generations.limit(GenerationsCase::Config.new(seconds))
    end
  end
end
