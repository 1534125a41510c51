# frozen_string_literal: true

require "test_helper"
require_relative "../support/children_case"

# Tests the pauses between the starts of a child that fails again and again.
class ChildrenPausesTest < Support::TestCase
  include ChildrenCase

  PAUSE = 10

  # The first replacement starts at once. Each later replacement starts after a pause. The pauses grow up to a maximum.
  def test_pauses_grow_if_the_child_ends_right_after_it_is_ready
    keep(1, pause: PAUSE) { BRIEF }
    mind_until { @started.size == 2 && ends == 2 }
    assert_pauses 10, 20, 30, 30
    assert_log(/worker \(pid \d+\) ended: exit status 3, /)
  end

  def test_a_long_life_ends_the_pauses
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

  # 2 ** 1100 is larger than the largest Float.
  def test_a_pause_of_zero_stays_zero_after_any_number_of_failures
    pauses = Bontebok::Children::Pauses.new(0.0)
    1100.times { pauses.failed(1) }
    assert_operator pauses.over(1), :<=, Bontebok::Clock.now
  end

  def test_pauses_grow_if_the_child_is_never_ready
    keep(1, pause: PAUSE) { FAILING }
    mind_until { ends == 1 }
    assert_pauses 10, 20, 30, 30
    assert_log(/worker \(pid \d+\) ended before it was ready: exit status 3/)
  end

  def test_a_renewal_ends_the_current_pause_but_not_the_next_pause
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

  # Returns the number of children that have ended, according to the log.
  def ends
    logged.scan(" ended").size
  end

  # all: pauses in seconds. Asserts that after each pause, and not before, the next child starts and ends.
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
