# frozen_string_literal: true

require "test_helper"
require_relative "../support/generations/generations_case"

# Tests how long the former master stays loaded (keep_former), and with how many workers it goes on.
class GenerationsKeepingTest < Support::TestCase
  include GenerationsCase

  def test_the_former_master_stays_loaded_without_workers
    keep_first
    assert_equal %i[go serving park], one(1).process.words
    assert_log "info master (pid 101) stays loaded for 900 s, without workers"
    assert_equal [[102], true], [@generations.pids, @generations.pid?(101)]
  end

  def test_the_former_master_ends_when_its_time_is_over
    keep_first
    wait(45) # it had time to let its workers leave
    assert_equal now + KEPT - 45, @generations.deadline
    wait(KEPT - 46)
    assert_states :kept, :serving
    wait(1)
    assert_states :leaving, :serving
    assert_nil @generations.kept
  end

  # The memory is needed, for example.
  def test_the_former_master_is_released
    keep_first
    2.times { @generations.release }
    assert_states :leaving, :serving
    assert_equal %i[go serving park retire], one(1).process.words
  end

  def test_a_former_master_that_dies_is_not_kept
    keep_first
    die(1)
    assert_states :ended, :serving
    assert_nil @generations.kept
  end

  # The supervisor reaps all children as process 1.
  def test_other_code_reaps_the_kept_master
    keep_first
    @generations.ended(101, Struct.new(:exitstatus, :success?, :signaled?).new(0, true, false))
    tick
    assert_log "info master (pid 101) has left: exit status 0"
    assert_nil @generations.kept
  end

  def test_the_former_master_stays_loaded_if_the_next_deploy_fails
    keep_first
    deploy
    die(3)
    assert_states :kept, :serving, :ended
    assert_same one(1), @generations.kept
  end

  def test_the_next_deploy_that_takes_effect_ends_the_former_master
    keep_first
    deploy
    serve(3)
    assert_states :leaving, :kept, :serving
  end

  def test_a_deploy_that_keeps_nothing_ends_the_former_master_too
    keep_first
    @server.seconds = [0]
    deploy
    serve(3)
    assert_states :leaving, :leaving, :serving
    assert_nil @generations.kept
  end

  # So that a rollback never goes two releases back.
  def test_a_deploy_ends_the_former_master_also_if_the_present_one_has_died
    keep_first
    deploy
    die(2)
    serve(3)
    assert_states :leaving, :ended, :serving
  end

  # The second one served before the third one, and has died.
  def test_a_superseded_master_that_takes_effect_ends_the_former_master_too
    keep_first
    deploy
    die(2)
    hear(3, :loaded, :ready)
    deploy
    hear(3, :whole)
    assert_states :kept, :ended, :whole, :started
    die(4)
    assert_states :leaving, :ended, :serving, :ended
    assert_nil @generations.kept
  end

  # The same release serves before and after.
  def test_a_master_that_replaces_a_dead_one_leaves_the_former_master
    keep_first
    die(2)
    tick
    one(3).ordered = false
    serve(3)
    assert_states :kept, :ended, :serving
  end

  def test_a_stop_ends_the_former_master
    keep_first
    @generations.stop(:retire)
    assert_states :leaving, :leaving
  end

  # A kept one writes to the log, and shows clients that the server will stop.
  def test_the_former_master_hears_what_concerns_it
    keep_first
    %i[reopen announce recall renew].each { |word| @generations.tell(word) }
    assert_equal %i[reopen announce recall], one(1).process.words.drop(3)
    assert_equal %i[reopen announce recall renew], one(2).process.words.drop(2)
  end

  # With deploy_surge, the former master has one worker of four left when the deploy fails.
  [4, 2, 1].each do |wanted|
    define_method("test_the_former_master_gets_#{wanted}_workers_if_so_many_are_wanted_when_the_deploy_fails") do
      @server.rollouts = [GenerationsCase::Rollout.new([[1, 3]])]
      begin_deploy
      serve(2)
      assert_equal 1, one(1).told
      @generations.workers = wanted
      die(2)
      assert_equal wanted, one(1).told
      assert_equal [*%i[fewer] * 3, *%i[more] * (wanted - 1)], one(1).process.words.drop(2)
    end
  end

  def test_the_former_master_gets_its_workers_back_when_another_deploy_replaces_the_next_one
    @server.rollouts = [GenerationsCase::Rollout.new([[1, 3]])]
    begin_deploy
    serve(2)
    deploy
    assert_equal [WORKERS, %i[more more more]], [one(1).told, one(1).process.words.last(3)]
  end

  # The master is frozen, or busy in a hook: it does not hear :park.
  def test_a_former_master_whose_workers_do_not_leave_ends
    keep_first
    @server.serving[1] = true
    wait(44)
    assert_states :kept, :serving
    wait(1)
    assert_states :ended, :serving
    assert_log "error master (pid 101) did not let its workers leave within 45 s: killed"
    assert_nil @generations.kept
  end
end
