# frozen_string_literal: true

require "test_helper"
require_relative "../../support/workers/workers_case"

# Tests changes of the number of workers, words for all workers, time limits, and #kill.
class ChildrenOrdersTest < Support::TestCase
  include WorkersCase

  def test_a_loading_child_gets_a_word_when_it_is_loaded
    keep(1)
    @workers.tell(:reopen)
    assert_empty @started[0].said
    say(:loaded)
    assert_equal [:reopen], @started[0].said
    @workers.tell(:reopen)
    @workers.stop(:quit)
    assert_equal %i[reopen reopen quit], @started[0].said
  end

  def test_the_number_of_children_can_change_but_the_last_child_stays
    serve(1)
    2.times { @workers.more }
    @workers.tick
    be_ready(*@started.last(2))
    assert_equal [3, [1, 2, 3]], [@workers.size, numbers]
    3.times { @workers.fewer }
    assert_equal 1, @workers.size
    assert_equal [[], [:retire], [:retire]], @started.map(&:said)
    @workers.tick
    @started.last(2).each { |process| let_end(process) }
    assert_equal ["3 workers", "1 worker"], logged.scan(/\d workers?$/)
    assert_equal %i[fewer fewer], @gone.map(&:cause)
    assert_equal 3, @started.size
  end

  def test_a_child_that_is_not_needed_ends_together_with_its_replacement
    serve(2)
    @workers.renew
    @workers.tick
    @workers.fewer
    assert_equal [[], [:retire], [], [:retire]], @started.map(&:said)
    assert_equal [[], [], [], [:TERM]], @started.map(&:signals)
    [@started[1], @started[3]].each { |process| let_end(process) }
    assert_equal 4, @started.size
  end

  def test_the_failures_of_a_number_that_goes_do_not_count_when_it_comes_back
    serve(2, pause: 30)
    let_end(@started[1])
    let_end(@started[2])
    @workers.fewer
    @workers.more
    @workers.tick
    assert_equal [1, 2, 2, 2], numbers
  end

  def test_a_child_that_does_not_become_ready_in_time_has_failed
    keep(2, boot: 60)
    be_ready(@started[1])
    refute @workers.settled?(:ready)
    pass_time(60)
    @workers.tick
    assert @workers.settled?(:ready)
    assert_equal ["error worker 1 (pid 101) did not become ready within 60 s: killed",
                  "warn worker 1 (pid 101) ended before it was ready: killed by SIGKILL"], @log
    assert @workers.any?(:ready)
  end

  def test_a_child_that_ends_with_status_0_before_it_is_ready_was_ended_by_the_application
    keep(1)
    let_end(@started[0])
    reason = "exit status 0: the application has ended it"
    assert_equal ["warn worker (pid 101) ended before it was ready: #{reason}"], @log
  end

  def test_a_loaded_child_waits_for_go_without_a_limit
    keep(1, boot: 60)
    assert_in_delta 60, @started[0].deadline - now
    say(:loaded)
    assert_nil @started[0].deadline
    pass_time(1)
    @workers.go
    assert_in_delta 60, @started[0].deadline - now
    say(:ready)
    assert_nil @started[0].deadline
    @workers.go
    assert_equal [:go], @started[0].said
  end

  # As in a rollback: the children from before #stop still finish their requests.
  def test_children_that_leave_are_not_children_that_are_ready_again
    serve(1, pause: 30)
    stop_and_resume
    let_end(@started[1], :exit, 3)
    assert_log "warn worker (pid 102) ended before it was ready: exit status 3"
    assert @workers.settled?(:ready)
    refute @workers.any?(:ready)
    assert_equal [[:retire], []], [@started[0].said, @started[0].signals]
  end

  def test_failures_from_before_a_stop_do_not_count_afterwards
    keep(1, pause: 30)
    let_end(@started[0], :exit, 3)
    stop_and_resume
    be_ready(@started[1])
    assert @workers.any?(:ready)
  end

  def test_a_rejected_fork_from_before_a_stop_does_not_count_afterwards
    failures = [Errno::EAGAIN.new]
    keep(1, pause: 30) { failures.shift&.then { |failure| raise failure } }
    stop_and_resume
    assert_equal 1, @started.size
  end

  def test_a_rejected_fork_counts_although_a_child_from_before_the_stop_leaves
    refuse = false
    keep(1, pause: 30) { raise Errno::EAGAIN if refuse }
    be_ready(@started[0])
    refuse = true
    stop_and_resume
    assert @workers.settled?(:ready)
    refute @workers.any?(:ready)
    assert_empty @started[0].signals
  end

  def test_the_end_of_a_child_that_loads_is_not_logged_while_the_children_stop
    keep(2)
    be_ready(@started[0])
    @workers.stop(:drain)
    @started.each { |process| let_end(process) }
    assert_equal ["info worker 1 (pid 101) has left: exit status 0"], @log
  end

  def test_the_children_wait_if_all_only_wait_for_hijacked_connections
    serve(2, grace: 60, hijack: 600)
    refute_predicate @workers, :waiting?
    say(:waits)
    refute_predicate @workers, :waiting?
    @workers.stop(:drain)
    say(:waits, by: @started[0])
    refute_predicate @workers, :waiting?
    say(:waits, by: @started[1])
    assert_predicate @workers, :waiting?
    pass_time(600)
    assert_empty @started.flat_map(&:signals)
    pass_time(1)
    assert_log "error worker 1 (pid 101) did not end within 601 s: killed"
  end

  def test_a_quit_shortens_the_time_of_a_child_that_leaves
    serve(1)
    @workers.stop(:drain)
    @workers.stop(:quit)
    assert_equal %i[drain quit], @started[0].said
    pass_time(2)
    assert_log "error worker (pid 101) did not end within 2 s: killed"
  end

  def test_a_second_drain_gives_no_more_time
    serve(1)
    @workers.stop(:drain)
    pass_time(59)
    @workers.stop(:retire)
    assert_equal [:drain], @started[0].said
    pass_time(1)
    assert_equal [:KILL], @started[0].signals
  end

  def test_kill_kills_all_children_and_the_log_names_them
    serve(2)
    @workers.stop(:quit)
    2.times { @workers.kill }
    assert_equal [[:KILL], [:KILL]], @started.map(&:signals)
    @workers.tick
    assert_empty @workers
    assert_equal @started.map(&:pid), logged.scan(/pid (\d+)\) has not ended: killed/).flatten.map(&:to_i)
  end

  private

  # Afterwards @workers waits for new workers.
  def stop_and_resume
    @workers.stop(:retire)
    @workers.tick
    @workers.resume
    refute @workers.settled?(:ready)
    @workers.tick
  end
end
