# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "bontebok/system/clock"
require "bontebok/system/deadline"

# Tests which time Clock counts. If the process is frozen with SIGSTOP during a wait, only the planned length of the
# wait counts.
class ClockTest < Support::TestCase
  Clock = Bontebok::Clock

  # Time passes only in #let_pass.
  def run
    @passed = @computed = 0.0
    lost = Clock.lost
    Clock.stub(:monotonic, -> { 1000 + @passed }) do
      Clock.stub(:processor, -> { @interrupt&.call || (10 + @computed) }) { super }
    end
  ensure
    Clock.instance_variable_set(:@lost, lost)
  end

  def setup
    Clock.instance_variable_set(:@lost, 0)
    @began = Clock.now
  end

  def test_time_that_passes_counts
    let_pass(3)
    assert_counts 3
  end

  def test_a_wait_that_ends_in_time_counts
    assert_equal(:result, Clock.wait(5) { let_pass(5) && :result })
    Clock.wait(5) { let_pass(2) }
    assert_counts 7
    assert_equal 0, Clock.lost
  end

  def test_a_freeze_counts_no_longer_than_the_wait
    Clock.wait(5) { let_pass(65) }
    assert_counts 5
    assert_equal 60, Clock.lost
  end

  def test_a_freeze_counts_no_longer_than_a_wait_that_raises
    assert_raises(IOError) { Clock.wait(5) { let_pass(65) && raise(IOError) } }
    assert_counts 5
  end

  # A signal can arrive before the block is called.
  def test_an_exception_before_the_block_is_not_replaced_by_another_one
    @interrupt = -> { (@interrupt = nil) || raise(IOError) }
    assert_raises(IOError) { Clock.wait(5) { flunk } }
    assert_counts 0
  end

  # A wait without a limit has no planned end, so Clock cannot see a freeze.
  def test_the_whole_time_of_a_wait_without_a_limit_counts
    Clock.wait(nil) { let_pass(65) }
    assert_counts 65
  end

  def test_processor_time_counts_in_addition_to_the_wait
    Clock.wait(5) { let_pass(9, computed: 3) }
    assert_counts 8
    Clock.wait(5) { let_pass(9, computed: 30) }
    assert_counts 17
  end

  def test_a_deadline_waits_in_short_steps
    deadline = Bontebok::Deadline.new(1)
    waits = []
    met = deadline.wait do |seconds|
      waits << seconds
      let_pass(seconds + 60) && nil
    end
    assert_nil met
    assert_equal [0.25] * 4, waits
    assert_equal 0, deadline.left
  end

  def test_a_deadline_that_is_met_returns_the_result
    deadline = Bontebok::Deadline.new(0.3)
    assert_equal(:met, deadline.wait { |seconds| let_pass(seconds) && (:met if @passed > 0.26) })
    assert_equal(:met, Bontebok::Deadline.new(1).wait { :met })
    assert_nil(Bontebok::Deadline.new(0).wait { flunk })
  end

  private

  def let_pass(seconds, computed: 0)
    @passed += seconds
    @computed += computed
  end

  def assert_counts(seconds)
    assert_in_delta seconds, Clock.now - @began, 1e-6
  end
end
