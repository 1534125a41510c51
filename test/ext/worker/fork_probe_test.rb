# frozen_string_literal: true

require "etc"
require "test_helper"
require "bontebok/bontebok"

# Core.check_fork: whether the kernel would refuse another process.
class ForkProbeTest < Support::TestCase
  def test_where_another_process_may_be_made_nothing_is_left_of_the_attempt
    ended = 0
    former = Signal.trap("CHLD") { ended += 1 }
    100.times { assert_nil Bontebok::Core.check_fork }
    assert_equal 0, ended
    assert_empty(Dir["/proc/self/task/*/children"].flat_map { |path| File.read(path).split })
  ensure
    Signal.trap("CHLD", former)
  end

  # The limit is none for root.
  def test_where_none_may_be_made_it_raises
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
    2.times { Bontebok::Core.check_fork } # the process itself is one
    "none"
  rescue SystemCallError => e
    e.class.name
  end
end
