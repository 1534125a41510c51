# frozen_string_literal: true

require "test_helper"
require_relative "support/children_case"

# Children that fail: how long nobody takes their place.
class ChildrenPausesTest < Support::TestCase
  include ChildrenCase

  # Long beside what a start takes on a busy machine.
  PAUSE = 0.4

  # The first time it is replaced at once, then it pauses, longer each time; a life that is long enough ends that.
  def test_one_that_was_ready_and_ends_at_once_again_and_again_pauses
    keep(1, pause: PAUSE) { BRIEF }
    mind_until { @started.size == 4 }
    pauses = @times.each_cons(2).map { |before, after| after - before }
    assert_operator pauses[0], :<, PAUSE
    [PAUSE, 2 * PAUSE].zip(pauses.drop(1)) { |least, pause| assert_operator pause, :>=, least }
  end

  def test_a_life_that_is_long_enough_ends_the_pauses
    keep(1, pause: PAUSE) { @started.size == 2 ? STEADY : BRIEF }
    mind_until { @started.size == 3 && @keeper.settled?(:ready) && @keeper.any?(:ready) }
    assert_nil @started[2].channel.to_io.wait_readable(1.1 * PAUSE)
    Process.kill("KILL", @started[2].pid)
    ended = Bontebok::Child.now
    mind_until { @started.size == 4 }
    assert_operator @times[3] - ended, :<, PAUSE
  end

  def test_such_a_life_may_end_by_leaving
    keep(1, pause: PAUSE) { [BRIEF, LEAVING, BRIEF, STEADY][@started.size] }
    mind_until { @started.size == 2 && @keeper.any?(:ready) }
    assert_nil @started[1].channel.to_io.wait_readable(1.1 * PAUSE)
    Process.kill("USR1", @started[1].pid)
    mind_until { @started.size == 4 }
    assert_operator @times[3] - @times[2], :<, PAUSE
  end

  def test_one_that_was_not_pauses_longer_each_time
    keep(1, pause: 0.04) { FAILING }
    mind_until { @started.size == 4 }
    pauses = @times.each_cons(2).map { |before, after| after - before }
    assert_operator pauses[0], :>=, 0.04
    assert_operator pauses[1], :>=, 0.08
    assert_operator pauses[2], :>=, 0.16
    assert_log(/worker \(pid \d+\) ended before it was ready: exit status 3/)
  end

  def test_one_that_cannot_be_forked_is_tried_again
    keep(1, pause: 0.01) { (@attempts = @attempts.to_i + 1) < 3 ? raise(Errno::EAGAIN) : STEADY }
    mind_until { @keeper.settled?(:ready) && @keeper.any?(:ready) }
    assert_equal 3, @attempts
    assert_log(/worker 1 cannot be started: Resource temporarily unavailable \(Errno::EAGAIN\)/)
  end
end
