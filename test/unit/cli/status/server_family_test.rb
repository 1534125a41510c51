# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/status/server_family"

# The test process is the supervisor. Its children are masters, or adopted workers.
class ServerFamilyTest < Support::TestCase
  ProcessChildren = Bontebok::ProcessChildren

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
    assert_equal ["the master (pid #{child}) is stopped (SIGSTOP)"], family([], masters: [child]).troubles(true)
    assert_empty family([], masters: []).troubles(true) # a child that is no master
  ensure
    Process.kill("CONT", child)
  end

  # A master that loads has no workers yet, but its title. A title may be missing, but not while there are workers.
  def test_without_an_answer_a_master_has_its_title_or_workers
    [titled("bontebok master"), parent].each do |pid|
      stop_process(pid)
      found = family(ProcessChildren.of(pid))
      assert_includes found.troubles(false), "the master (pid #{pid}) is stopped (SIGSTOP)"
      ProcessChildren.of(pid).each { |worker| assert found.include?(worker) }
    ensure
      Process.kill("CONT", pid)
    end
  end

  # The supervisor adopts daemons of the application. A server with one process has no masters.
  def test_other_children_are_no_masters
    [[], [Process.pid]].each do |lanes|
      stop_process(child)
      assert_equal 1, family(lanes).troubles(false).size
      assert_empty family(lanes).troubles(true)
    ensure
      Process.kill("CONT", child)
    end
  end

  def test_masters_of_a_wrong_type_are_none
    ["x", 7, true, { "a" => 1 }, [nil, "x", child.to_s, [child]]].each do |masters|
      assert_empty family([], masters: masters).troubles(true), masters.inspect
    end
  end

  def test_adopted_workers
    text = "a master has ended: the supervisor has adopted its worker (pid #{child})"
    assert_equal [text], family([child]).troubles(true)
    assert_empty family([child, Process.pid], pid: child).troubles(true)
    assert_empty family([child], masters: [child]).troubles(true) # any process may write a master's pid
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

  def titled(title)
    pid = start_process(RbConfig.ruby, "--disable=gems", "-e", "exec(['sleep', ARGV.first], '60')", title).pid
    eventually("the title") { File.read("/proc/#{pid}/cmdline").start_with?(title) }
    pid
  end

  # A process with a child.
  def parent
    pid = start_process("sh", "-c", "sleep 60 & trap 'kill $!; exit' TERM; wait").pid
    eventually("the child") { ProcessChildren.of(pid).any? }
    pid
  end

  def family(lanes, pid: Process.pid, masters: nil) = Bontebok::ServerFamily.new(pid, lanes, masters)
end
