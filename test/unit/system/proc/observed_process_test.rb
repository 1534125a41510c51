# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/system/proc/observed_process"

# Tests ObservedProcess with children of the test, which sleep, stop or end.
class ObservedProcessTest < Support::TestCase
  Observed = Bontebok::ObservedProcess

  def test_a_process_that_sleeps
    before = Time.now.to_f
    with_child do |pid|
      eventually { Observed.new(pid).state == "S" }
      seen = Observed.new(pid)
      assert_equal [pid, "waits", false, false], [seen.pid, seen.condition, seen.stopped?, seen.ended?]
      assert_in_delta before, seen.started, 2
      assert_includes 0..1.0, seen.cpu
      assert_includes (1 << 16)..(1 << 32), seen.pss
    end
  end

  def test_a_process_that_computes
    with_child(-> { loop { 1 + 1 } }) do |pid|
      eventually { Observed.new(pid).cpu > 0.05 }
      assert_equal "runs", Observed.new(pid).condition
    end
  end

  def test_a_stopped_process
    with_child do |pid|
      stop_process(pid)
      seen = Observed.new(pid)
      assert_equal ["T", "is stopped (SIGSTOP)", true, false], [seen.state, seen.condition, seen.stopped?, seen.ended?]
      refute_nil seen.pss
    end
  end

  def test_a_zombie_and_a_process_that_is_gone
    seen = nil
    pid = with_child(-> {}) do |child|
      eventually { Observed.new(child).state == "Z" }
      seen = Observed.new(child)
      assert_ended seen
      assert_nil seen.pss
    end
    seen = Observed.new(pid)
    assert_ended seen
    assert_equal [nil] * 4, [seen.state, seen.cpu, seen.started, seen.pss]
  end

  # The number comes from memory that any worker can write.
  def test_a_number_that_is_no_pid
    [-1, -Process.pid, 1 << 31, (1 << 64) - 1].each { |number| assert_ended Observed.new(number) }
  end

  def test_a_process_of_another_namespace
    seen = Observed.new(0)
    assert_equal [nil, nil, false, false], [seen.state, seen.condition, seen.stopped?, seen.ended?]
  end

  # /proc is not mounted, or hides the processes of other users.
  def test_a_process_that_proc_does_not_show
    Bontebok::StatLine.stub(:read, nil) do
      seen = Observed.new(Process.pid)
      assert_equal [nil, nil, false, false], [seen.state, seen.condition, seen.stopped?, seen.ended?]
      Process.stub(:kill, ->(*) { raise Errno::EPERM }) { refute_predicate Observed.new(1), :ended? }
    end
  end

  def test_each_letter_of_the_kernel_has_words
    words = %w[R S D T t Z X].map { |letter| condition_of(letter) }
    assert_equal ["runs", "waits", "waits for the disk", "is stopped (SIGSTOP)", "is stopped by a debugger",
                  "has ended", "has ended"], words
    assert_nil condition_of("?")
  end

  private

  def assert_ended(seen)
    assert_equal ["has ended", false, true], [seen.condition, seen.stopped?, seen.ended?]
  end

  def condition_of(letter)
    line = Bontebok::StatLine.new(letter, 1, 0.0, 0, 0.0)
    Bontebok::StatLine.stub(:read, line) { Observed.new(1).condition }
  end

  # Yields the pid of a child that calls the Proc. Returns the pid when the child is reaped.
  def with_child(work = -> { sleep })
    pid = fork do
      Signal.trap("TERM", "DEFAULT")
      work.call
      exit!
    end
    yield pid
    pid
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
  end
end
