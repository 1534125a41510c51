# frozen_string_literal: true

require "test_helper"
require "bontebok/bontebok"

# Tests Core.hold_signals and Core.release_signals: signals wait while a process executes another program.
class HeldSignalsTest < Support::TestCase
  USR1 = Signal.list.fetch("USR1")

  def test_a_held_signal_arrives_when_it_is_released
    arrived = 0
    former = Signal.trap("USR1") { arrived += 1 }
    Bontebok::Core.hold_signals(USR1)
    Process.kill("USR1", Process.pid)
    Thread.pass
    assert_equal 0, arrived
    Bontebok::Core.release_signals(USR1)
    eventually { arrived == 1 }
  ensure
    Signal.trap("USR1", former || "DEFAULT")
  end

  def test_a_held_signal_waits_in_the_executed_program
    reader, writer = IO.pipe
    pid = Process.fork do
      Bontebok::Core.hold_signals(USR1)
      Process.kill("USR1", Process.pid)
      Process.exec("grep", "^ShdPnd", "/proc/self/status", out: writer)
    end
    writer.close
    assert_equal 1 << (USR1 - 1), reader.read[/\h+$/].to_i(16)
  ensure
    reader.close
    Process.wait(pid)
  end

  def test_what_is_no_signal
    assert_raises(ArgumentError, TypeError) { Bontebok::Core.hold_signals("USR1") }
  end
end
