# frozen_string_literal: true

require "test_helper"
require "bontebok/system/proc/process_stop"

# Tests ProcessStop. It finds out whether a process is frozen with SIGSTOP, and distinguishes one freeze from the next.
class ProcessStopTest < Support::TestCase
  def test_each_freeze_of_a_process_has_its_own_value
    pid = fork { sleep }
    assert_nil Bontebok::ProcessStop.of(pid)
    first = stop(pid)
    assert_equal first, Bontebok::ProcessStop.of(pid)
    Process.kill("CONT", pid)
    refute_equal first, stop(pid)
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
    assert_nil Bontebok::ProcessStop.of(pid)
  end

  private

  def stop(pid)
    Process.kill("STOP", pid)
    Process.wait(pid, Process::WUNTRACED)
    Bontebok::ProcessStop.of(pid)
  end
end
