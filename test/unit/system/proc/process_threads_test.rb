# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/system/proc/process_threads"

# Tests ProcessThreads with threads of the test's own process.
class ProcessThreadsTest < Support::TestCase
  def setup
    super
    @threads = []
  end

  def teardown
    @threads.each(&:kill).each(&:join)
    super
  end

  def test_a_thread_is_found_by_its_name
    thread("a) R (\n b") { sleep }
    eventually { named("a) R (\n b")&.state == "S" }
    found = named("a) R (\n b")
    refute_equal Process.pid, found.tid
    assert_operator found.cpu, :<, 60 # Ruby reuses the threads of the system
  end

  def test_the_kernel_tells_where_a_thread_waits
    thread("bontebok 1") { sleep }
    kernel = eventually { named("bontebok 1")&.kernel }
    assert_match(/\A\w*(futex|poll|wait)\w*\z/, kernel)
  end

  def test_a_thread_that_computes_uses_the_processor
    # A thread that went on would keep Ruby's lock for 100 ms before each file that the test reads.
    thread("bontebok 2") { nil until Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) > 0.06 && sleep }
    eventually { named("bontebok 2")&.cpu&.> 0.03 }
    assert_operator named("bontebok 2").cpu, :<, 60
  end

  def test_the_suffix_of_a_compiler_is_left_out
    read = ->(path) { path.end_with?("wchan") ? "do_wait.constprop.0" : File.binread(path) }
    Bontebok::ProcFile.stub(:read, read) do
      assert_equal ["do_wait"], Bontebok::ProcessThreads.of(Process.pid).map(&:kernel).uniq
    end
  end

  # 0: the thread runs, or the user may not see it.
  def test_no_function_of_the_kernel
    [nil, "0", "a b", "\xff\e[2J"].each do |text|
      read = ->(path) { path.end_with?("wchan") ? text&.b : File.binread(path) }
      Bontebok::ProcFile.stub(:read, read) do
        assert_equal [nil], Bontebok::ProcessThreads.of(Process.pid).map(&:kernel).uniq
      end
    end
  end

  def test_threads_that_end_meanwhile_are_left_out
    20.times do
      threads = Array.new(5) { Thread.new { nil } }
      assert_includes Bontebok::ProcessThreads.of(Process.pid).map(&:tid), Process.pid
      threads.each(&:join)
    end
  end

  def test_a_missing_process_has_no_threads
    assert_empty Bontebok::ProcessThreads.of(0)
    assert_empty Bontebok::ProcessThreads.of(-1)
  end

  private

  def thread(name, &block)
    @threads << Thread.new do
      Thread.current.name = name
      block.call
    end
  end

  def named(name) = Bontebok::ProcessThreads.of(Process.pid).find { |found| found.name == name }
end
