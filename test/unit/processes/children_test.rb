# frozen_string_literal: true

require "test_helper"
require_relative "../support/children_case"

# Tests when children are started, replaced and killed.
class ChildrenTest < Support::TestCase
  include ChildrenCase

  def test_the_wanted_number_of_children_starts_and_becomes_ready
    keep(3) { STEADY }
    mind_until { @keeper.settled?(:ready) && @keeper.any?(:ready) }
    assert_equal [1, 2, 3], @started.map(&:number)
  end

  def test_waiting_children_get_go_even_if_they_start_later
    keep(2) { WAITING }
    mind_until { @keeper.settled?(:loaded) }
    refute @keeper.any?(:ready)
    @keeper.go
    mind_until { @keeper.settled?(:ready) }
    Process.kill("KILL", @started.first.pid)
    mind_until { @started.size == 3 && @keeper.settled?(:ready) }
  end

  def test_the_callback_is_called_when_a_child_has_ended
    ended = Queue.new
    keep(1, ended: ->(child) { ended.push([child.number, child.pid, child.status]) }) { STEADY }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("KILL", @started.first.pid)
    mind_until { @started.size == 2 }
    number, pid, status = ended.pop(true)
    assert_equal [1, @started.first.pid, 9], [number, pid, status.termsig]
  end

  def test_a_hook_that_fails_is_a_failed_start
    failing = true
    keep(1, pause: 0.01) { failing ? (failing = false) || raise(Bontebok::Hooks::Failed, "the hook failed") : STEADY }
    mind_until { @keeper.settled?(:ready) && @keeper.any?(:ready) }
    assert_log(/worker 1 cannot be started: the hook failed/)
  end

  def test_a_child_that_was_ready_is_replaced_at_once
    keep(2, pause: 60) { STEADY }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("KILL", @started[1].pid)
    mind_until { @started.size == 3 }
    assert_equal 2, @started.last.number
    assert_log(/worker 2 \(pid #{@started[1].pid}\) ended: killed by SIGKILL, \d+\.\d s after it was ready$/)
  end

  def test_a_fork_that_fails_leaves_nothing_behind
    pair = Bontebok::Channel.pair
    Bontebok::Channel.stub(:pair, pair) do
      Process.stub(:fork, -> { raise Errno::EAGAIN }) do
        assert_raises(Errno::EAGAIN) { Bontebok::Child.fork(1) { 0 } }
      end
    end
    assert(pair.all? { |channel| channel.to_io.closed? })
    assert_empty Bontebok::Channel.all & pair
  end

  def test_children_are_settled_even_if_one_child_has_failed
    keep(2, pause: 60) { |number| number == 1 ? FAILING : STEADY }
    mind_until { @keeper.settled?(:ready) }
    assert @keeper.any?(:ready)
    assert_equal 2, @started.size
  end

  def test_no_child_pauses_for_the_failure_of_another
    keep(2, pause: 60) { |number| number == 1 ? FAILING : STEADY }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("KILL", @started.find { |child| child.number == 2 }.pid)
    mind_until { @started.size == 3 }
    assert_equal 2, @started.last.number
  end

  def test_a_child_that_asks_to_leave_serves_until_its_replacement_is_ready
    keep(1) { @started.empty? ? LEAVING : WAITING }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("USR1", @started[0].pid)
    mind_until { @started.size == 2 }
    assert_alive @started[0]
    @keeper.go
    mind_until { gone?(@started[0]) }
    assert_alive @started[1]
    mind_until { @events.push("CHLD") && logged.include?("has left") }
    assert_log(/worker \(pid (\d+)\) leaves when its replacement is ready$.*worker \(pid \1\) has left: exit status 0/m)
  end

  def test_the_end_of_a_child_that_was_told_to_end_is_logged
    keep(3, grace: 60) { |number| [STEADY, STUBBORN, FAILING_AT_THE_END].fetch(number - 1) }
    mind_until { @keeper.settled?(:ready) }
    @keeper.stop(:drain)
    mind_until { logged.scan("has left").size == 2 }
    pass_time(60)
    mind_until { @keeper.empty? }
    assert_log(/info \d+ \S+ \S+ worker 1 .* has left: exit status 0$/)
    assert_log(/info \d+ \S+ \S+ worker 2 .* has left: killed by SIGKILL$/)
    assert_log(/warn \d+ \S+ \S+ worker 3 .* has left: exit status 3$/)
  end

  def test_a_warning_is_logged_if_another_process_kills_a_leaving_child
    keep(1, grace: 60) { STUBBORN }
    mind_until { @keeper.settled?(:ready) }
    @keeper.stop(:drain)
    Process.kill("KILL", @started[0].pid)
    mind_until { @keeper.empty? }
    assert_log(/warn \d+ \S+ \S+ worker .* has left: killed by SIGKILL$/)
  end

  def test_a_replacement_that_fails_is_tried_again_and_the_old_child_stays
    keep(1, pause: 0.01) { @started.empty? ? LEAVING : FAILING }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("USR1", @started[0].pid)
    mind_until { @started.size == 4 }
    assert_alive @started[0]
  end

  def test_a_child_that_does_not_end_in_time_is_killed_and_the_log_names_it
    keep(1, grace: 0.05) { STUBBORN }
    mind_until { @keeper.settled?(:ready) }
    @keeper.stop(:drain)
    mind_until { @keeper.empty? }
    assert_log(/error \d+ \S+ \S+ worker \(pid #{@started[0].pid}\) did not end within 0.05 s: killed/)
    assert_equal 1, @started.size
  end

  # The kernel may need some time to end a process that is killed.
  def test_a_child_that_was_killed_is_not_killed_again
    keep(1, grace: 0.01) { STUBBORN }
    mind_until { @keeper.settled?(:ready) }
    @started[0].stub(:check, nil) do
      @keeper.stop(:drain)
      mind_until { logged.include?("killed") }
      @keeper.stop(:quit)
    end
    assert_nil @started[0].deadline
  end

  def test_a_loading_child_ends_at_once_at_a_stop
    keep(1, grace: 60) { ->(_channel) { sleep } }
    mind_until { @started.size == 1 }
    @keeper.stop(:drain)
    mind_until { @keeper.empty? }
    assert_equal 1, @started.size
  end

  def test_all_words_of_a_child_that_has_ended_are_read
    keep(1) { @started.empty? ? talkative : STEADY }
    @keeper.tick
    eventually { gone?(@started[0]) }
    mind_until { @started.size == 2 }
    assert_log(/worker \(pid #{@started[0].pid}\) ended: exit status 3, \d+\.\d s after it was ready$/)
  end

  def test_no_child_keeps_the_parents_ends_of_channels
    keep(2) { STEADY }
    mind_until { @keeper.settled?(:ready) }
    ends = @started.map { |child| child.channel.to_io.fileno }
    ours = Support::ProcessTable.descriptors(Process.pid).values_at(*ends)
    refute_includes ours, nil
    @started.each { |child| assert_empty Support::ProcessTable.descriptors(child.pid).values & ours }
  end

  private

  # Says more words than one read returns.
  def talkative
    lambda do |channel|
      100.times { channel.say(:crashed) }
      BRIEF.call(channel)
    end
  end
end
