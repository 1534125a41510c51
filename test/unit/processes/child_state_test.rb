# frozen_string_literal: true

require "test_helper"
require "json"
require "minitest/mock"
require "bontebok/processes/child"

# Tests Child::State: another program becomes the parent of the same children.
class ChildStateTest < Support::TestCase
  CLOCK = Bontebok::Clock

  def setup
    @child = Bontebok::Child.new(3, 4711, nil)
  end

  def test_a_child_that_serves
    CLOCK.stub(:now, 100) { %i[loaded ready whole].each { |step| @child.reached(step) } }
    copy = carry(after: 30)
    assert_equal [3, 4711, true, false], [copy.number, copy.pid, copy.staying?, copy.leaving?]
    assert copy.reached?(:whole)
    assert_nil copy.deadline
    CLOCK.stub(:now, 135) { assert_in_delta 35, copy.seconds_ready }
  end

  def test_a_child_that_waits_for_its_replacement
    %i[loaded ready].each { |step| @child.reached(step) }
    @child.replace
    copy = carry
    refute_predicate copy, :staying?
    refute_predicate copy, :leaving?
    refute copy.reached?(:whole)
  end

  def test_a_deadline
    CLOCK.stub(:now, 100) { @child.expect(60) }
    assert_in_delta 160, carry(after: 20).deadline
  end

  def test_no_deadline
    CLOCK.stub(:now, 100) { @child.expect(Float::INFINITY) }
    assert_nil carry(after: 20).deadline
  end

  # A newer version can have more steps.
  def test_a_step_that_this_version_does_not_know
    copy = Bontebok::Child.restore(JSON.parse(JSON.generate(@child.state.merge(progress: "perfect"))), nil)
    refute copy.reached?(:loaded)
  end

  private

  # after: seconds that have passed since time 100.
  def carry(after: 0)
    CLOCK.stub(:now, 100 + after) { Bontebok::Child.restore(JSON.parse(JSON.generate(@child.state)), nil) }
  end
end
