# frozen_string_literal: true

require "test_helper"
require_relative "../support/workers/workers_case"

# Tests when workers are started, replaced and killed.
class ChildrenTest < Support::TestCase
  include WorkersCase

  def test_the_wanted_number_of_children_starts_and_becomes_ready
    keep(3)
    assert_equal [1, 2, 3], numbers
    refute @workers.settled?(:ready)
    be_ready(*@started)
    assert @workers.settled?(:ready)
    assert @workers.any?(:ready)
    assert_predicate @workers, :whole?
  end

  def test_waiting_children_get_go_even_if_they_start_later
    keep(2)
    say(:loaded)
    assert @workers.settled?(:loaded)
    assert_empty @started.flat_map(&:said)
    @workers.go
    assert_equal [[:go], [:go]], @started.map(&:said)
    say(:ready)
    let_end(@started[0], :die, "KILL")
    say(:loaded, by: @started[2])
    assert_equal [:go], @started[2].said
  end

  def test_the_callback_is_called_when_a_child_has_ended
    serve(1)
    let_end(@started[0], :die, "KILL")
    assert_equal([[1, @started[0].pid, 9]], @gone.map { |child| [child.number, child.pid, child.status.termsig] })
    assert_predicate @started[0], :hung_up?
    @workers.tick
    assert_equal 1, @gone.size
  end

  def test_a_hook_that_fails_is_a_failed_start
    failures = [Bontebok::Hooks::Failed.new("the hook failed")]
    keep(1) { failures.shift&.then { |failure| raise failure } }
    assert_log "error worker 1 cannot be started: the hook failed"
    assert @workers.settled?(:ready)
    refute @workers.any?(:ready)
    pass_time(0.9)
    assert_empty @started
    pass_time(0.1)
    assert_equal [1], numbers
  end

  def test_a_child_that_was_ready_is_replaced_at_once
    serve(2, pause: 60)
    pass_time(12.34)
    let_end(@started[1], :die, "KILL")
    assert_equal [1, 2, 2], numbers
    assert_log "warn worker 2 (pid 102) ended: killed by SIGKILL, 12.3 s after it was ready"
  end

  def test_children_are_settled_even_if_one_child_has_failed
    keep(2, pause: 60)
    be_ready(@started[1])
    refute @workers.settled?(:ready)
    let_end(@started[0], :exit, 3)
    assert @workers.settled?(:ready)
    assert @workers.any?(:ready)
    refute_predicate @workers, :whole?
    assert_equal 2, @started.size
  end

  def test_no_child_pauses_for_the_failure_of_another
    keep(2, pause: 60)
    be_ready(@started[1])
    let_end(@started[0], :exit, 3)
    let_end(@started[1], :die, "KILL")
    assert_equal [1, 2, 2], numbers
  end

  def test_a_child_that_asks_to_leave_serves_until_its_replacement_is_ready
    serve(1)
    say(:leave)
    assert_equal [1, 1], numbers
    say(:loaded, by: @started[1])
    assert_serves @started[0]
    say(:ready, by: @started[1])
    assert_equal [:retire], @started[0].said
    let_end(@started[0])
    assert_serves @started[1]
    assert_equal ["info worker (pid 101) leaves when its replacement is ready",
                  "info worker (pid 101) has left: exit status 0"], @log
  end

  def test_the_end_of_a_child_that_was_told_to_end_is_logged
    serve(3)
    @workers.stop(:drain)
    let_end(@started[0])
    let_end(@started[2], :exit, 3)
    pass_time(60)
    @workers.tick
    assert_empty @workers
    assert_log "info worker 1 (pid 101) has left: exit status 0"
    assert_log "info worker 2 (pid 102) has left: killed by SIGKILL"
    assert_log "warn worker 3 (pid 103) has left: exit status 3"
  end

  def test_a_warning_is_logged_if_another_process_kills_a_leaving_child
    serve(1)
    @workers.stop(:drain)
    let_end(@started[0], :die, "KILL")
    assert_empty @workers
    assert_equal ["warn worker (pid 101) has left: killed by SIGKILL"], @log
  end

  def test_the_end_of_a_child_is_unknown_if_other_code_reaps_it
    serve(2)
    @workers.stop(:drain)
    let_end(@started[0], :vanish)
    assert_equal ["info worker 1 (pid 101) has left: unknown status"], @log
  end

  def test_a_replacement_that_fails_is_tried_again_and_the_old_child_stays
    serve(1)
    say(:leave)
    3.times do |turn|
      let_end(@started.last, :exit, 3)
      pass_time(2**turn)
      assert_equal turn + 3, @started.size
    end
    assert_serves @started[0]
  end

  def test_a_child_that_does_not_end_in_time_is_killed_and_the_log_names_it
    serve(1, grace: 0.05)
    @workers.stop(:drain)
    assert_equal [:drain], @started[0].said
    pass_time(0.05)
    assert_log "error worker (pid 101) did not end within 0.05 s: killed"
    @workers.tick
    assert_empty @workers
    assert_equal 1, @started.size
  end

  # The kernel may need some time to end a process that is killed.
  def test_a_child_that_was_killed_is_not_killed_again
    serve(1)
    @started[0].busy = true
    @workers.stop(:drain)
    pass_time(60)
    @workers.stop(:quit)
    assert_nil @started[0].deadline
    pass_time(60)
    assert_equal [:KILL], @started[0].signals
  end

  def test_a_loading_child_ends_at_once_at_a_stop
    %i[drain retire quit].each do |how|
      keep(1)
      @workers.stop(how)
      assert_equal [[how], [:TERM]], [@started.last.said, @started.last.signals]
      let_end(@started.last, :die, "TERM")
      assert_empty @workers
    end
    assert_empty @log
    assert_equal 3, @started.size
  end

  # Says more words than one read returns.
  def test_all_words_of_a_child_that_has_ended_are_read
    keep(1)
    @started[0].say(*[:leave] * 100, :loaded, :ready).exit(3)
    @workers.tick
    assert_equal 2, @started.size
    assert_equal ["warn worker (pid 101) ended: exit status 3, 0.0 s after it was ready"], @log
  end

  def test_words_for_all_children
    serve(2)
    @workers.tell(:reopen)
    assert_equal [[:reopen], [:reopen]], @started.map(&:said)
  end

  def test_the_sources_are_the_channels_that_are_open
    serve(2)
    assert_equal @started.map(&:channel), @workers.sources
    @started[0].close
    @workers.tick
    assert_equal [@started[1].channel], @workers.sources
  end
end
