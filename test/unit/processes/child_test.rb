# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "bontebok/processes/child"
require "bontebok/system/signal_queue"

# Tests signals that a child gets right after the fork, before it has its own handlers. For example, a terminal sends
# INT and HUP to all processes of its group. Tests the words of a parent, too.
class ChildTest < Support::TestCase
  SIGNALS = Bontebok::QuietSignals::NAMES

  def setup
    @former = SIGNALS.to_h { |signal| [signal, Signal.trap(signal, "DEFAULT")] }
    @events = Bontebok::SignalQueue.new(*SIGNALS)
  end

  def teardown
    @events.close
    @former.each { |signal, handler| Signal.trap(signal, handler || "DEFAULT") }
  end

  def test_signals_do_not_end_a_child_before_it_has_handlers_of_its_own
    child = Bontebok::Child.fork(1, to_close: [@events]) { receive_all && 3 }
    assert_equal "exit status 3", ending(child)
  end

  # The child still has its parent's handlers.
  def test_signals_do_not_end_a_child_right_after_the_fork
    fork_process = Process.method(:_fork)
    fork_and_receive = -> { fork_process.call.tap { |pid| receive_all if pid.zero? } }
    child = Process.stub(:_fork, fork_and_receive) { Bontebok::Child.fork(1) { 3 } }
    assert_equal "exit status 3", ending(child)
    assert_empty @events.take
  end

  # So the child keeps its priority at its end.
  def test_a_child_with_few_seconds_is_told_to_hurry
    parent_end, child_end = Bontebok::Channel.pair
    child = Bontebok::Child.new(1, Process.pid, parent_end)
    child.reached(:ready)
    child.hurry(1)
    assert_equal %i[retire hurry], child_end.hear
  ensure
    [parent_end, child_end].each(&:close)
  end

  # Otherwise nothing would kill a child that does not end.
  def test_a_child_that_leaves_keeps_its_deadline_when_it_reports_a_step
    parent_end, child_end = Bontebok::Channel.pair
    child = Bontebok::Child.new(1, Process.pid, parent_end)
    child.expect(60)
    child.reached(:loaded)
    assert_nil child.deadline
    child.retire(60)
    child.reached(:ready)
    refute_nil child.deadline
  ensure
    [parent_end, child_end].each(&:close)
  end

  def test_a_master_keeps_one_worker
    parent_end, child_end = Bontebok::Channel.pair
    child = Bontebok::Child.new(1, Process.pid, parent_end)
    child.tell(:more)
    assert_nil child.workers
    child.workers = 2
    %i[more fewer fewer fewer].each { |word| child.tell(word) }
    assert_equal 1, child.workers
  ensure
    [parent_end, child_end].each(&:close)
  end

  private

  def receive_all
    SIGNALS.each { |signal| Process.kill(signal, Process.pid) }
  end

  def ending(child)
    eventually { child.check || child.ending }
  ensure
    child.channel.close
  end
end
