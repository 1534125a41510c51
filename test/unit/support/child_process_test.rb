# frozen_string_literal: true

require "test_helper"

# Tests ChildProcess and ProcessTable: the output and the end of a process, and processes that are left behind.
class ChildProcessTest < Support::TestCase
  def test_a_run_collects_both_streams_and_the_status
    child = Support::ChildProcess.run("sh", "-c", "echo out; echo err >&2; exit 3")
    assert_equal 3, child.status.exitstatus
    assert_equal ["out\n", "err\n"], [child.output.text(:stdout), child.output.text(:stderr)]
  end

  def test_a_test_can_wait_for_a_line
    child = start_process("sh", "-c", "echo listening on 127.0.0.1:80; exec sleep 60")
    assert_equal "127.0.0.1:80", child.wait_for_output(/listening on (\S+)/)[1]
    assert_predicate child, :running?
    assert_predicate child.stop, :signaled?
  end

  def test_an_end_without_the_line_is_an_error_with_the_output
    child = start_process("sh", "-c", "echo it broke")
    error = assert_raises(Support::Error) { child.wait_for_output(/listening/) }
    assert_match(/it broke/, error.message)
  end

  def test_a_process_that_outlives_the_started_process_is_found_and_killed
    child = Support::ChildProcess.new("sh", "-c", "sleep 60 & exit 0")
    child.wait
    eventually { child.group.map(&:command) == ["sleep 60"] } # no longer a copy of the shell
    error = assert_raises(Support::Timeout) { child.stop("TERM", 0.05) }
    assert_match(/sleep 60/, error.message)
    assert_equal ["sleep 60"], child.kill.map(&:command)
    child.wait_for_group
  end

  def test_a_process_that_does_not_end_fails_the_test_that_started_it
    test = Class.new(Support::TestCase) { def self.name = "Inner" }.new("inner")
    test.send(:children) << stubborn
    error = assert_raises(Minitest::Assertion) { test.before_teardown }
    assert_match(/does not end/, error.message)
  end

  def test_a_worker_that_is_killed_after_the_default_of_graceful_timeout_fails_the_test
    test = Class.new(Support::TestCase) { def self.name = "Inner" }.new("inner")
    test.start_process("sh", "-c", "echo 'worker 1 (pid 2) did not end within 30.0 s: killed'").wait
    error = assert_raises(Minitest::Assertion) { test.before_teardown }
    assert_match(/pid 2/, error.message)
  end

  def test_a_process_gets_its_environment_and_directory
    child = Support::ChildProcess.run("sh", "-c", "pwd; echo $MARK", chdir: temp_dir, env: { "MARK" => "here" })
    assert_equal [File.realpath(temp_dir), "here"], child.output.lines(:stdout)
  end

  def test_the_process_table_reads_a_process
    entry = Support::ProcessTable.entry(Process.pid)
    assert_equal [Process.ppid, Process.getpgrp], [entry.parent, entry.group]
    assert_operator Support::ProcessTable.cpu_seconds(Process.pid), :>, 0
    assert_operator Support::ProcessTable.memory_bytes(Process.pid), :>, 1024 * 1024
    assert_includes Support::ProcessTable.descriptors(Process.pid).keys, 0
  end

  def test_the_process_table_has_no_entry_of_a_process_that_is_gone
    child = Support::ChildProcess.run("true")
    assert_nil Support::ProcessTable.entry(child.pid)
    assert_empty Support::ProcessTable.descriptors(child.pid)
    assert_empty Support::ProcessTable.thread_states(child.pid)
  end

  # When the numbers have begun again.
  def test_another_group_with_the_same_number_is_not_killed
    other = start_process("setsid", "--wait", "sh", "-c", "echo $$; sleep 60")
    foreign = other.wait_for_output(/^(\d+)$/)[1].to_i
    child = Support::ChildProcess.run("true")
    child.stub(:pid, foreign) { assert_empty child.kill }
    assert Support::ProcessTable.entry(foreign)
  ensure
    Process.kill("KILL", -foreign) if foreign
  end

  private

  # Starts a process that ignores TERM. Its #stop waits only 0.05 s.
  def stubborn
    child = Support::ChildProcess.new("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 60; done")
    child.wait_for_output(/ready/)
    def child.stop = super("TERM", 0.05)
    child
  end
end
