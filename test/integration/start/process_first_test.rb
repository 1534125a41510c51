# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# The server is the first process of a container. The kernel makes all orphans children of the server.
class ProcessFirstTest < Support::TestCase
  include ProcessTree

  UNSHARE = %w[unshare --pid --fork --kill-child --mount-proc].freeze

  def setup
    skip "no pid namespace may be made here (root may)" unless system(*UNSHARE, "true", %i[out err] => File::NULL)
  end

  def test_orphans_leave_no_zombie
    supervisor = start_in_container
    former = Support::ProcessTable.children(supervisor).first.pid
    orphans = Support::ProcessTable.children(former).map(&:pid)
    assert_equal 2, orphans.size
    Process.kill("KILL", former)
    eventually { [former, *orphans].all? { |pid| gone?(pid) } }
    eventually { dead_and_living_children(supervisor).size == 1 }
    @container.wait_for_output(/master \(pid \d+\) ended: killed by SIGKILL/)
    Process.kill("TERM", supervisor)
    assert_equal 0, @container.wait.exitstatus
  end

  private

  # Returns the pid that the first process has outside of the container.
  def start_in_container
    rackup = rackup_file("config.ru", GATED_APP)
    @container = start_process(*UNSHARE, RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "-w", "2",
                               "-l", "unix:#{temp_dir}/a.sock", rackup)
    @container.wait_for_output(/ ready in \d+ ms$/)
    Support::ProcessTable.children(@container.pid).first.pid
  end

  def dead_and_living_children(pid)
    Dir.glob("/proc/[0-9]*/stat").select do |path|
      File.read(path).rpartition(")").last.split[1].to_i == pid
    rescue Errno::ENOENT, Errno::ESRCH
      false
    end
  end
end
