# frozen_string_literal: true

require "test_helper"
require_relative "../../support/workers/workers_case"

# Tests workers of a new generation, which serve together, and those whose number fails twice.
class ChildrenTogetherTest < Support::TestCase
  include WorkersCase

  def test_no_child_serves_before_all_are_prepared
    begin_together
    assert_equal [[:go], [:go]], @started.map(&:said)
    say(:prepared, by: @started[1])
    assert_equal [%i[go serve], %i[go serve]], @started.map(&:said)
    say(:ready)
    assert_predicate @workers, :whole?
  end

  # When no other generation serves.
  def test_each_child_serves_when_it_is_prepared_if_they_serve_together_no_longer
    begin_together
    @workers.together = false
    2.times { @workers.tick }
    assert_equal [%i[go serve], [:go]], @started.map(&:said)
    say(:prepared, by: @started[1])
    assert_equal %i[go serve], @started[1].said
  end

  def test_a_prepared_child_has_no_deadline_until_it_is_told_to_serve
    begin_together(boot: 60)
    pass_time(59)
    assert_nil @started[0].deadline
    say(:prepared, by: @started[1])
    @started.each { |process| assert_in_delta 60, process.deadline - now }
    say(:ready)
    assert_equal [nil, nil], @started.map(&:deadline)
    assert_empty @log
  end

  def test_a_child_that_is_added_serves_when_it_is_prepared
    begin_together
    say(:prepared, by: @started[1])
    say(:ready)
    @workers.more
    @workers.tick
    say(:loaded, :prepared, by: @started[2])
    assert_equal %i[go serve], @started[2].said
  end

  def test_a_child_that_leaves_is_not_told_to_serve
    begin_together
    @workers.stop(:retire)
    say(:prepared, by: @started[1])
    assert_equal [%i[go retire], %i[go retire]], @started.map(&:said)
  end

  def test_a_number_whose_children_fail_twice_in_a_row_is_hopeless
    serve(2)
    let_end(@started[1])
    let_end(@started[2], :exit, 3)
    assert_nil @workers.hopeless
    pass_time(1)
    be_ready(@started[3])
    assert_nil @workers.hopeless # the second one was ready
    let_end(@started[3], :die, "KILL")
    pass_time(2)
    let_end(@started[4], :exit, 3)
    assert_nil @workers.hopeless
    pass_time(4)
    let_end(@started[5], :exit, 3)
    assert_equal 2, @workers.hopeless
  end

  def test_a_child_that_a_user_kills_has_not_failed
    keep(1)
    %w[KILL TERM].each do |signal|
      let_end(@started.last, :die, signal)
      assert_log "warn worker (pid #{@started.last.pid}) ended before it was ready: killed by SIG#{signal}"
      pass_time(2)
    end
    assert_equal 3, @started.size
    assert_nil @workers.hopeless
  end

  # The second attempt fails at once as well.
  def test_a_hook_that_fails_is_a_failure_and_a_rejected_fork_is_none
    [Errno::EAGAIN.new, Errno::EMFILE.new, Bontebok::Hooks::Failed.new("x")].each do |error|
      attempts = 0
      keep(1) { raise error if (attempts += 1) < 3 }
      pass_time(1.5)
      assert_equal [2, error.is_a?(Bontebok::Hooks::Failed)], [attempts, !@workers.hopeless.nil?]
    end
  end

  private

  # Two workers that are told to go. The first is prepared, the second is loaded.
  def begin_together(**options)
    keep(2, **options)
    @workers.together = true
    @workers.go
    say(:loaded)
    say(:prepared, by: @started[0])
  end
end
