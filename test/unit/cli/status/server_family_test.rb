# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/status/server_family"

# The test process is the supervisor. Its children are masters, or adopted workers.
class ServerFamilyTest < Support::TestCase
  def setup
    skip "no /proc" unless File.exist?("/proc/self/stat")
  end

  def test_only_processes_of_the_family_count
    child
    found = family([])
    assert_predicate found, :known?
    assert_equal([true, true, false, false, false],
                 [Process.pid, child, 1, Process.ppid, (2**31) - 1].map { |pid| found.include?(pid) })
    assert_empty found.troubles(true)
    assert_in_delta Time.now.to_f, found.started, 3600
  end

  def test_a_server_that_does_not_answer
    assert_equal ["the supervisor (pid #{Process.pid}) does not answer, and runs"], family([]).troubles(false)
    assert_equal ["the server (pid #{Process.pid}) does not answer, and runs"], family([Process.pid]).troubles(false)
    assert_equal ["the server does not answer"], family([], pid: nil).troubles(false)
    assert_empty family([], pid: nil).troubles(true)
  end

  def test_a_master_that_is_stopped
    stop_process(child)
    assert_equal ["the master (pid #{child}) is stopped (SIGSTOP)"], family([]).troubles(true)
    assert_empty family([], masters: []).troubles(true) # a child that is no master
  ensure
    Process.kill("CONT", child)
  end

  def test_adopted_workers
    text = "a master has ended: the supervisor has adopted its worker (pid #{child})"
    assert_equal [text], family([child]).troubles(true)
    assert_empty family([child, Process.pid], pid: child).troubles(true)
  end

  # Without /proc, kill(2) tells which processes live.
  def test_an_unknown_family_has_each_process_that_lives
    found = family([], pid: (2**31) - 1)
    refute_predicate found, :known?
    assert found.include?(Process.pid)
    [0, -1, 2**40, (2**31) - 1].each { |pid| refute found.include?(pid), pid.to_s }
  end

  # The pids of the memory are those of the server's namespace, and mean nothing here.
  def test_a_family_in_another_namespace_of_pids_has_each_process
    found = family([], pid: nil)
    refute_predicate found, :known?
    assert found.include?((2**31) - 1)
    [0, -1].each { |pid| refute found.include?(pid), pid.to_s }
  end

  private

  def child
    @child ||= start_process("sleep", "60").pid
  end

  def family(lanes, pid: Process.pid, masters: nil) = Bontebok::ServerFamily.new(pid, lanes, masters)
end
