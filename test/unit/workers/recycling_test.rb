# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"
require "bontebok/workers/recycling"

# Tests when a worker leaves because of its age or its memory.
class RecyclingTest < Support::TestCase
  MEGABYTE = 1 << 20

  def setup
    @now = 0.0
    @warnings = []
    @memory = [Bontebok::ProcessMemory.new(10 * MEGABYTE, 5 * MEGABYTE)]
  end

  def test_a_worker_without_limits_never_leaves
    assert_nil recycling.deadline
  end

  def test_a_worker_leaves_when_it_is_old_enough
    subject = recycling(max_worker_age: ["100"])
    time = subject.deadline
    assert_includes 75.0..100.0, time
    assert_nil(at(time - 1) { subject.reason })
    assert_equal([time, [:max_worker_age, "age"]], at(time) { [subject.deadline, subject.reason] })
    assert_equal([nil, nil], at(time + 1000) { [subject.deadline, subject.reason] })
  end

  def test_workers_leave_at_different_ages
    ages = Array.new(20) { recycling(max_worker_age: ["100"]).deadline }
    assert_operator ages.uniq.size, :>, 5
  end

  def test_a_worker_leaves_when_it_has_too_much_memory
    @memory.push(@memory.first, Bontebok::ProcessMemory.new(312 * MEGABYTE, 140 * MEGABYTE))
    subject = recycling(max_worker_memory: ["300M"])
    assert_equal(10, subject.deadline)
    assert_nil(at(9) { subject.reason })
    assert_nil(at(10) { subject.reason })
    assert_equal(20, subject.deadline)
    assert_nil(at(19) { subject.reason })
    assert_equal([:max_worker_memory, "memory 312 MB, PSS 140 MB"], at(20) { subject.reason })
    assert_nil subject.deadline
  end

  def test_memory_of_exactly_the_limit_is_allowed
    subject = recycling(max_worker_memory: ["10M"])
    assert_nil(at(10) { subject.reason })
    assert_empty @warnings
  end

  def test_a_limit_that_is_too_low_from_the_start_is_logged
    recycling(max_worker_memory: ["9M"])
    assert_equal ["max_worker_memory is less than a worker has when it begins: memory 10 MB, PSS 5 MB"], @warnings
  end

  # The memory can be read at the start of the worker, but not later.
  def test_the_limit_ends_when_the_system_stops_showing_the_memory
    @memory << nil
    subject = recycling(max_worker_memory: ["10M"])
    assert_equal([nil, nil], at(10) { [subject.reason, subject.deadline] })
    assert_match(/max_worker_memory has no effect/, @warnings.join)
  end

  def test_the_limit_that_is_reached_first_counts
    subject = recycling(max_worker_memory: ["9M"], max_worker_age: ["1h"])
    assert_equal(10, subject.deadline)
    assert_equal([:max_worker_memory, "memory 10 MB, PSS 5 MB"], at(10) { subject.reason })
    assert_nil subject.deadline
  end

  def test_the_limit_has_no_effect_if_the_system_does_not_show_the_memory
    @memory = [nil]
    subject = recycling(max_worker_memory: ["9M"])
    assert_nil subject.deadline
    assert_match(/max_worker_memory has no effect/, @warnings.join)
  end

  # ---- stands for the clock, the memory and the log ----

  attr_reader :now

  def read
    @memory.size > 1 ? @memory.shift : @memory.first
  end

  def warn(message)
    @warnings << message
  end

  private

  def recycling(written = {})
    Bontebok::Recycling.new(Bontebok::Config.new(written, env: {}), log: self, memory: self, clock: self)
  end

  def at(seconds)
    @now = seconds
    yield
  end
end
