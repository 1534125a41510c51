# frozen_string_literal: true

require "test_helper"
require "bontebok/system/main_thread"

# Tests exceptions that other threads raise in the main thread. These exceptions arrive only while the main thread
# waits.
class MainThreadTest < Support::TestCase
  class Fault < StandardError
  end

  def setup
    @reader, @writer = IO.pipe
    @main = Thread.current
  end

  def teardown
    [@reader, @writer].each(&:close)
  end

  def test_an_exception_is_given_to_the_block_when_the_thread_waits
    arrived = []
    Bontebok::MainThread.guard do
      Thread.new { @main.raise(Fault) }.join
      arrived << :work
      assert_equal([], wait { |exception| arrived << exception.class })
    end
    assert_equal [:work, Fault], arrived
  end

  def test_a_wait_ends_when_a_source_is_readable_or_the_time_is_over
    assert_nil wait
    @writer.write(".")
    assert_equal [@reader], wait
  end

  def test_other_threads_can_raise_in_a_thread_that_was_started_under_guard
    gate = Queue.new
    thread = Bontebok::MainThread.guard do
      Thread.new { Bontebok::MainThread.unguard { gate.push(:here) && sleep } }
    end
    thread.report_on_exception = false
    gate.pop
    thread.raise(Fault)
    assert_raises(Fault) { thread.value }
  end

  def test_other_threads_can_raise_in_a_thread_that_a_handler_starts_during_a_wait
    Bontebok::MainThread.guard do
      former = trap("USR2") { @busy = Thread.new { @writer.write(".") && loop { break if @enough } } }
      Thread.new { Thread.pass until @main.stop? && Process.kill("USR2", Process.pid) }
      assert_equal [@reader], Bontebok::MainThread.wait([@reader], Support::Deadline::DEFAULT_SECONDS)
    ensure
      trap("USR2", former)
    end
    @busy.report_on_exception = false
    @busy.raise(Fault)
    refute_nil @busy.join(60), "nothing can be raised in it"
  rescue Fault
    pass
  ensure
    @enough = true
  end

  def test_an_ebadf_of_the_application_is_given_to_the_block
    arrived = nil
    Bontebok::MainThread.guard do
      Thread.new { @main.raise(Errno::EBADF) }.join
      wait { |exception| arrived = exception }
    end
    assert_instance_of Errno::EBADF, arrived
  end

  # Without this exception, the caller's loop would spin.
  def test_a_source_that_is_closed_raises
    @reader.close
    assert_raises(IOError) { wait { flunk } }
  end

  # The test closes the descriptor by its number, so Ruby does not know that the source is closed.
  def test_a_source_whose_descriptor_is_closed_raises
    IO.for_fd(@reader.fileno).close
    @reader.autoclose = false
    assert_raises(Errno::EBADF) { wait { flunk } }
  ensure
    @reader, writer = IO.pipe
    writer.close
  end

  private

  def wait(&)
    Bontebok::MainThread.wait([@reader], 0.01, &)
  end
end
