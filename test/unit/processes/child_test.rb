# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "bontebok/processes/child"
require "bontebok/system/signal_queue"

# The first moments of a process of ours: INT and HUP come from a terminal to all, also to one that has no handlers of
# its own yet; so may USR1 and the others.
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

  def test_they_do_not_end_it_before_it_has_handlers_of_its_own
    child = Bontebok::Child.fork(1, to_close: [@events]) { receive_all && 3 }
    assert_equal "exit status 3", ending(child)
  end

  # It still has its parent's handlers.
  def test_nor_at_the_very_beginning
    fork_process = Process.method(:_fork)
    fork_and_receive = -> { fork_process.call.tap { |pid| receive_all if pid.zero? } }
    child = Process.stub(:_fork, fork_and_receive) { Bontebok::Child.fork(1) { 3 } }
    assert_equal "exit status 3", ending(child)
    assert_empty @events.take
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
