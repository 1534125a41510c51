# frozen_string_literal: true

require "test_helper"
require_relative "../support/companions_case"

# Tests a process that a master keeps beside its workers: when it starts, and how it ends.
# The process is a fake, which waits.
class CompanionTest < Support::TestCase
  include CompanionsCase

  def test_it_runs_from_the_first_order_to_the_last_one
    keep(OBEYING, ready: true)
    @companion.tick
    assert_predicate @companion, :empty?
    assert_nil @companion.deadline
    3.times { @companion.serve && @companion.tick }
    assert_equal 1, @groups.size
    @said.gets
    @companion.stop
    mind_until { @companion.empty? }
    assert_nil @companion.deadline
    assert_logged(/ info .*jobs \(pid #{@groups[0].leader}\) have left: exit status 0$/)
  end

  def test_one_that_ends_by_itself_is_started_again_after_pauses_that_grow
    keep(-> { 3 })
    @companion.serve
    [PAUSE, 2 * PAUSE, 30, 30].each.with_index(1) do |pause, count|
      mind_until { @groups.size == count && @companion.empty? }
      assert_logged(/jobs \(pid #{@groups.last.leader}\) ended: exit status 3, .* started again in #{pause}\.0 s$/)
      pass_time(pause - 1)
      @companion.tick
      assert_equal count, @groups.size
      pass_time(1)
      @companion.tick
    end
  end

  def test_one_that_has_run_for_long_has_the_first_pause_again
    keep(QUIET)
    @companion.serve
    2.times do |count|
      mind_until { @groups.size == count + 1 }
      pass_time(31)
      @groups.last.tell("KILL")
      mind_until { @companion.empty? }
      assert_logged(/ended: killed by SIGKILL, 31\.\d s after their start; they are started again in #{PAUSE}\.0 s$/)
      pass_time(PAUSE)
    end
  end

  def test_without_an_order_it_is_not_started_again
    keep(QUIET)
    begin_to_run
    @groups[0].tell("KILL")
    mind_until { @companion.empty? }
    @companion.stop
    pass_time(60)
    @companion.tick
    assert_equal 1, @groups.size
  end

  def test_term_comes_first_and_kill_when_the_time_is_over
    keep(STUBBORN, ready: true)
    begin_to_run
    2.times { @companion.stop }
    pass_time(SECONDS - 1)
    @companion.tick
    @companion.stop # it has no new time
    refute_predicate @companion, :empty?
    pass_time(1)
    mind_until { @companion.empty? }
    assert_logged(/ error .*jobs \(pid \d+\) did not end in time: killed$/)
    assert_logged(/ have left: killed by SIGKILL$/)
  end

  def test_a_stop_at_once_shortens_the_time
    keep(STUBBORN, ready: true)
    begin_to_run
    @companion.stop
    @companion.stop(at_once: true)
    pass_time(Bontebok::ForkedProcess::QUIT_SECONDS)
    mind_until { @companion.empty? }
    assert_logged(/ did not end in time: killed$/)
  end

  def test_its_forked_processes_are_killed_with_it
    keep(-> { FORKING.call(@say) })
    @companion.serve
    @companion.tick
    forked = Integer(@said.gets)
    @companion.stop
    mind_until { @groups[0].ending }
    refute_predicate @companion, :empty?
    pass_time(SECONDS)
    mind_until { !Support::ProcessTable.entry(forked) }
    pass_time(Bontebok::ForkedProcess::KILL_SECONDS)
    mind_until { @companion.empty? }
  end

  def test_an_order_to_serve_while_it_ends
    keep(OBEYING)
    begin_to_run
    @companion.stop
    @companion.serve
    mind_until { @groups.size == 2 }
    refute_predicate @companion, :empty?
  end

  def test_a_rejected_fork
    keep(QUIET)
    Bontebok::Core.stub(:check_fork, -> { raise Errno::EAGAIN }) do
      @companion.serve
      @companion.tick
    end
    assert_predicate @companion, :empty?
    assert_logged(/ error .*jobs cannot be started: the system refuses another process/)
    pass_time(PAUSE)
    mind_until { @groups.size == 1 }
  end
end
