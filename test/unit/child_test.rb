# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "bontebok/child"
require "bontebok/signal_queue"

# The first moments of a process of ours: HUP comes from a terminal to all, also to one that has no handler of its own.
class ChildTest < Support::TestCase
  def setup
    @former = Signal.trap("HUP", "DEFAULT")
  end

  def teardown
    Signal.trap("HUP", @former)
  end

  def test_hup_does_not_end_it_before_it_has_handlers_of_its_own
    child = Bontebok::Child.fork(1) { Process.kill("HUP", Process.pid) && 3 }
    assert_equal "exit status 3", ending(child)
  end

  # It still has its parent's handlers.
  def test_nor_at_the_very_beginning
    events = Bontebok::SignalQueue.new("HUP")
    fork_process = Process.method(:_fork)
    fork_and_hang_up = lambda do
      fork_process.call.tap { |pid| Process.kill("HUP", Process.pid) if pid.zero? }
    end
    child = Process.stub(:_fork, fork_and_hang_up) { Bontebok::Child.fork(1) { 3 } }
    assert_equal "exit status 3", ending(child)
    assert_empty events.take
  ensure
    events.close
  end

  private

  def ending(child)
    eventually { child.check || child.ending }
  ensure
    child.channel.close
  end
end
