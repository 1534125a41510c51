# frozen_string_literal: true

require "etc"
require "test_helper"
require "bontebok/bontebok"

# Core.check_fork checks whether the kernel permits another process.
class ForkProbeTest < Support::TestCase
  def setup
    skip "one process serves" if Bontebok::Core::PORTABLE
  end

  def test_a_check_that_succeeds_leaves_no_process
    ended = 0
    former = Signal.trap("CHLD") { ended += 1 }
    100.times { assert_nil Bontebok::Core.check_fork }
    assert_equal 0, ended
    assert_empty File.read("/proc/self/task/#{Process.pid}/children") # of the main thread, zombies, too
  ensure
    Signal.trap("CHLD", former)
  end

  # RLIMIT_NPROC does not apply to root, so the child becomes another user if the test runs as root.
  def test_the_check_raises_if_no_process_can_be_made
    reader, writer = IO.pipe
    pid = fork do
      Process::Sys.setuid(Etc.getpwnam("nobody").uid) if Process.euid.zero?
      Process.setrlimit(:NPROC, 1)
      writer.write(refusal)
      exit!(0)
    end
    writer.close
    assert_equal "Errno::EAGAIN", reader.read
  ensure
    Process.wait(pid)
    reader.close
  end

  private

  def refusal
    2.times { Bontebok::Core.check_fork } # the limit counts this process, too
    "none"
  rescue SystemCallError => e
    e.class.name
  end
end
