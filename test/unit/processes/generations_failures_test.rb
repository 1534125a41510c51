# frozen_string_literal: true

require "test_helper"
require_relative "../support/generations/generations_case"

# Tests what a new generation that fails leaves: the former generation serves.
class GenerationsFailuresTest < Support::TestCase
  include GenerationsCase

  TO_END = GRACE + Bontebok::Generations::MASTER_SECONDS

  def test_a_master_that_ends_ends_the_deploy_and_the_former_one_stays
    begin_deploy
    die(2, "exit status 3")
    assert_log "warn master (pid 102) ended before it was ready: exit status 3"
    assert_log "error the deploy has failed: the present master continues"
    assert_equal [2, "has ended: exit status 3"], @server.failure
    wait(LIMIT)
    assert_states :serving, :ended
  end

  [[], %i[loaded ready]].each do |words|
    define_method("test_a_master_that_closes_its_channel_after_#{words.size}_words_ends_the_deploy") do
      begin_deploy
      hear(2, *words)
      desert(2)
      assert_states :serving, :lost
      assert_equal [2, "has failed before it was ready"], @server.failure
      assert_log "error master (pid 102) has closed its channel before it was ready: it has 45 s to end"
      assert_empty one(2).process.signals
      die(2)
      wait(LIMIT)
      assert_states :serving, :ended
    end
  end

  def test_a_master_that_has_closed_its_channel_is_killed_when_its_time_is_over
    begin_deploy
    desert(2)
    wait(TO_END - 1)
    assert_states :serving, :lost
    wait(1)
    assert_log "error master (pid 102) did not end within 45 s: killed"
    assert_equal %i[KILL], one(2).process.signals
    assert_states :serving, :ended
  end

  # A process that ends closes its channel a moment before it can be reaped.
  def test_a_master_that_ends_a_moment_after_its_channel_has_ended_and_is_not_lost
    begin_deploy
    hear(2, :closed)
    die(2)
    assert_equal [2, "has ended: killed by SIGKILL"], @server.failure
  end

  def test_a_master_that_closes_its_channel_is_tried_again_if_nobody_else_serves
    begin_deploy
    [1, 2].each { |number| die(number) }
    wait(PAUSE)
    desert(3)
    assert_states :ended, :ended, :lost
    wait(2 * PAUSE)
    serve(4)
    assert_states :ended, :ended, :lost, :serving
  end

  def test_a_master_that_served_and_closes_its_channel_is_replaced
    @generations.go
    tick
    serve(1)
    desert(1)
    assert_log "error master (pid 101) has closed its channel: it is replaced, and has 45 s to end"
    serve(2)
    assert_states :lost, :serving
  end

  # Nobody has asked for a third one.
  def test_a_master_that_asks_to_leave_stays_if_its_replacement_fails
    @generations.go
    tick
    serve(1)
    hear(1, :leave)
    die(2)
    wait(PAUSE)
    assert_states :serving, :ended
  end

  # The deploy was to replace it.
  def test_a_former_master_that_asks_to_leave_stays_if_the_deploy_fails
    begin_deploy
    hear(1, :leave)
    die(2)
    wait(PAUSE)
    assert_states :serving, :ended
  end

  # As in a rollback: requests and hijacked connections from before the deploy go on.
  def test_a_master_that_reports_its_failure_ends_the_deploy_and_gets_the_time_to_end
    begin_deploy
    hear(2, :loaded, :failed, :waits)
    assert_equal [2, "did not get its workers ready"], @server.failure
    assert_log "error master (pid 102) did not get its workers ready: it is stopped"
    wait(HIJACK)
    assert_states :serving, :failed
    wait(LIMIT)
    assert_states :serving, :ended
    assert_predicate one(2), :killed?
  end

  def test_a_master_that_reports_its_failure_is_replaced_before_it_ends_if_nobody_else_serves
    begin_deploy
    die(1)
    hear(2, :loaded, :failed, :waits)
    wait(PAUSE)
    serve(3)
    assert_states :ended, :failed, :serving
  end

  # The former master has died, so the superseded one continues.
  def test_a_superseded_master_takes_effect_if_the_next_one_fails
    begin_with_superseded
    hear(3, :loaded)
    hear(2, :whole)
    assert_states :ended, :whole, :loaded
    assert_equal [1], @server.served
    hear(3, :failed)
    assert_states :ended, :serving, :failed
    assert_equal [1, 2], @server.served
  end

  # The next one goes on.
  def test_a_superseded_master_that_reports_its_failure
    begin_with_superseded(:loaded)
    hear(2, :failed)
    assert_states :ended, :loaded, :started
  end

  # The former master has died. The superseded one becomes ready after the next one was started.
  def test_the_limit_applies_when_the_superseded_master_serves
    tick
    hear(1, :loaded)
    deploy
    hear(2, :loaded)
    die(1)
    deploy
    wait(LIMIT)
    hear(2, :ready)
    assert_states :ended, :ready, :started
    wait(LIMIT)
    assert_states :ended, :ready, :failed
  end

  # Nobody has asked for another one: the former one serves.
  def test_a_former_master_that_does_not_serve_yet_takes_the_place_of_the_next_one_that_fails
    begin_with_superseded(:loaded)
    die(3)
    tick
    assert_equal 3, @server.started.size
    hear(2, :ready)
    wait(PAUSE)
    hear(2, :whole)
    wait(LIMIT)
    assert_states :ended, :serving, :ended
    assert_equal [1, 2], @server.served
  end

  # The time limit of the master that has failed must not end the wait for the next master.
  def test_the_next_deploy_after_a_failure_replaces_the_former_master
    begin_deploy
    die(2)
    wait(LIMIT / 2)
    deploy
    hear(3, :loaded, :ready)
    wait(LIMIT / 2)
    hear(3, :whole)
    assert_states :leaving, :ended, :serving
  end

  def test_a_master_whose_listeners_cannot_listen_ends_the_deploy
    @server.listens[2] = false
    begin_deploy
    hear(2, :loaded)
    assert_log "error master (pid 102) cannot listen: it is stopped"
    assert_equal %i[retire], one(2).process.words
    assert_states :serving, :failed
  end

  private

  # The first master has died, and a deploy has superseded the second one.
  def begin_with_superseded(*words)
    begin_deploy
    die(1)
    hear(2, *(words.empty? ? %i[loaded ready] : words))
    deploy
  end
end
