# frozen_string_literal: true

require "test_helper"
require "bontebok/system/proc/process_state"

# Tests ProcessState. It finds out whether a process is frozen with SIGSTOP, and distinguishes one freeze from the next.
class ProcessStateTest < Support::TestCase
  def test_each_freeze_of_a_process_has_its_own_value
    pid = fork { sleep }
    assert_nil Bontebok::ProcessState.stop(pid)
    first = stop(pid)
    assert_equal first, Bontebok::ProcessState.stop(pid)
    Process.kill("CONT", pid)
    refute_equal first, stop(pid)
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
    assert_nil Bontebok::ProcessState.stop(pid)
  end

  private

  def stop(pid)
    Process.kill("STOP", pid)
    Process.wait(pid, Process::WUNTRACED)
    Bontebok::ProcessState.stop(pid)
  end
end
