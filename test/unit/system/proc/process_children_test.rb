# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/system/proc/process_children"

# Tests ProcessChildren with children of the test.
class ProcessChildrenTest < Support::TestCase
  def test_children_are_found_in_each_way_also_those_of_other_threads
    pids = [fork { sleep }, Thread.new { fork { sleep } }.value]
    assert_equal pids.sort, own(pids)
    # As if the kernel had no such file.
    File.stub(:read, ->(*) { raise Errno::ENOENT }) { assert_equal pids.sort, own(pids) }
    assert_empty Bontebok::ProcessChildren.of(pids.first)
  ensure
    pids.each { |pid| Process.kill("KILL", pid) && Process.wait(pid) }
  end

  def test_a_process_that_does_not_exist_has_none
    [0, -1, 1 << 40].each { |number| assert_empty Bontebok::ProcessChildren.of(number) }
  end

  def test_a_system_without_proc_tells_none
    Dir.stub(:children, ->(*) { raise Errno::ENOENT }) do
      assert_empty Bontebok::ProcessChildren.of(Process.pid)
    end
  end

  private

  # Other tests can have children as well.
  def own(pids) = Bontebok::ProcessChildren.of(Process.pid).sort & pids
end
