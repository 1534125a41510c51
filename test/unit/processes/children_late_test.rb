# frozen_string_literal: true

require "test_helper"
require_relative "../support/children_case"

# Tests children that exceed a time limit. The time while the parent itself is frozen does not count.
class ChildrenLateTest < Support::TestCase
  include ChildrenCase

  LIMIT = 60

  def test_time_while_this_process_is_frozen_does_not_count
    keep(2, grace: LIMIT, boot: LIMIT) { |number| number == 1 ? STUBBORN : LOADING }
    mind_until { @keeper.any?(:ready) && @started.size == 2 }
    @started[0].retire(LIMIT)
    be_stopped(3600)
    pass_time(LIMIT / 2)
    @keeper.tick
    @started.each { |child| assert_alive child }
    pass_time(LIMIT / 2)
    mind_until { logged.include?("did not end within #{LIMIT} s: killed") }
    assert_log(/did not become ready within #{LIMIT} s: killed/)
  end

  # If the parent is frozen during a wait, only the planned length of this wait counts. So the waits must be short.
  def test_waits_are_short_while_a_child_has_a_limit
    keep(1, boot: LIMIT) { LOADING }
    mind_until { @started.size == 1 }
    assert_operator wait_seconds, :<=, 0.25
    assert_operator wait_seconds(until_then: Bontebok::Clock.now + 0.1), :<=, 0.1
  end

  def test_a_wait_has_no_end_if_there_is_no_limit
    keep(1) { LOADING }
    mind_until { @started.size == 1 }
    assert_nil wait_seconds
  end

  def test_a_wait_without_a_limit_lasts_until_the_next_check_for_stalled_children
    stalled = Struct.new(:time, :look).new(Bontebok::Clock.now + LIMIT, {})
    keep(1, stalled: stalled) { STEADY }
    mind_until { @keeper.settled?(:ready) }
    assert_in_delta LIMIT, wait_seconds, LIMIT / 2
    assert_operator wait_seconds(until_then: Bontebok::Clock.now + LIMIT), :<=, 0.25
    stalled.time = nil
    assert_nil wait_seconds
  end

  private

  # Returns the seconds that @keeper would wait; nil: no limit.
  def wait_seconds(**options)
    seconds = nil
    IO.stub(:select, proc { |*arguments| (seconds = arguments.last) && nil }) { @keeper.wait(@events, **options) }
    seconds
  end
end
