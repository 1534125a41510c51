# frozen_string_literal: true

require "test_helper"
require_relative "../support/children_case"

# Children that fail: how long their number pauses.
class ChildrenPausesTest < Support::TestCase
  include ChildrenCase

  PAUSE = 10

  # The child is replaced at once the first time. After that its number pauses, longer each time.
  def test_a_child_that_keeps_ending_right_after_it_was_ready_pauses
    keep(1, pause: PAUSE) { BRIEF }
    mind_until { @started.size == 2 && ends == 2 }
    assert_pauses 10, 20, 30, 30
    assert_log(/worker \(pid \d+\) ended: exit status 3, /)
  end

  def test_a_life_that_is_long_enough_ends_the_pauses
    keep(1, pause: PAUSE) { @started.size == 2 ? STEADY : BRIEF }
    mind_until { ends == 2 }
    pass_time(PAUSE)
    mind_until { @keeper.any?(:ready) && @started.size == 3 }
    pass_time(PAUSE)
    Process.kill("KILL", @started[2].pid)
    mind_until { ends == 3 }
    assert_equal 4, @started.size
  end

  def test_a_long_life_that_ends_by_leaving_ends_the_pauses
    keep(1, pause: PAUSE) { [BRIEF, LEAVING, BRIEF, STEADY][@started.size] }
    mind_until { @started.size == 2 && @keeper.any?(:ready) }
    pass_time(PAUSE)
    Process.kill("USR1", @started[1].pid)
    mind_until { ends == 2 }
    assert_equal 4, @started.size
  end

  # Two to the power of this number is more than a Float can be.
  def test_a_pause_of_zero_stays_zero_after_any_number_of_failures
    pauses = Bontebok::Children::Pauses.new(0.0, 0)
    1100.times { pauses.failed(1) }
    assert_operator pauses.over(1), :<=, Bontebok::Clock.now
  end

  def test_a_child_that_was_never_ready_pauses_longer_each_time
    keep(1, pause: PAUSE) { FAILING }
    mind_until { ends == 1 }
    assert_pauses 10, 20, 30, 30
    assert_log(/worker \(pid \d+\) ended before it was ready: exit status 3/)
  end

  def test_a_renewal_cuts_the_pause_short_but_not_the_next_one
    keep(1, pause: PAUSE) { FAILING }
    mind_until { ends == 1 }
    %i[renew renew_slowly].each.with_index(2) do |renewal, count|
      @keeper.public_send(renewal)
      mind_until { ends == count }
      assert_equal count, @started.size
    end
    assert_pauses 30
  end

  def test_a_child_that_cannot_be_forked_is_tried_again
    keep(1, pause: 0.01) { (@attempts = @attempts.to_i + 1) < 3 ? raise(Errno::EAGAIN) : STEADY }
    mind_until { @keeper.settled?(:ready) && @keeper.any?(:ready) }
    assert_equal 3, @attempts
    assert_log(/worker 1 cannot be started: the system refuses another process .*: Resource temporarily unavailable/)
  end

  private

  # The number of ends in the log.
  def ends
    logged.scan(" ended").size
  end

  # Asserts for each pause that the next child is started when so many seconds have passed, not before, and ends.
  def assert_pauses(*all)
    all.each do |seconds|
      count = @started.size
      pass_time(seconds / 2)
      @keeper.tick
      assert_equal count, @started.size, "after #{seconds / 2} s"
      pass_time(seconds / 2)
      mind_until { @started.size == count + 1 && ends == count + 1 }
    end
  end
end
