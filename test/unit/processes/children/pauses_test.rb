# frozen_string_literal: true

require "test_helper"
require_relative "../../support/workers/workers_case"

# Tests the pauses between the starts of a worker that fails again and again.
class ChildrenPausesTest < Support::TestCase
  include WorkersCase

  PAUSE = 10

  # The first replacement starts at once. Each later replacement starts after a pause. The pauses grow up to a maximum.
  def test_pauses_grow_if_the_child_ends_right_after_it_is_ready
    keep(1, pause: PAUSE)
    2.times { be_brief }
    assert_pauses(10, 20, 30, 30) { be_brief }
    assert_log "warn worker (pid 101) ended: exit status 3, 0.0 s after it was ready"
  end

  def test_a_long_life_ends_the_pauses
    keep(1, pause: PAUSE)
    2.times { be_brief }
    pass_time(PAUSE)
    be_ready(@started[2])
    pass_time(PAUSE)
    let_end(@started[2], :die, "KILL")
    assert_equal 4, @started.size
  end

  def test_a_long_life_that_ends_by_leaving_ends_the_pauses
    keep(1, pause: PAUSE)
    be_brief
    be_ready(@started[1])
    pass_time(PAUSE)
    say(:leave, by: @started[1])
    be_brief
    assert_equal 4, @started.size
  end

  # 2 ** 1100 is larger than the largest Float.
  def test_a_pause_of_zero_stays_zero_after_any_number_of_failures
    pauses = Bontebok::Children::Pauses.new(0.0)
    1100.times { pauses.failed(1) }
    assert_operator pauses.over(1), :<=, Bontebok::Clock.now
  end

  def test_pauses_grow_if_the_child_is_never_ready
    keep(1, pause: PAUSE)
    fail_to_start
    assert_pauses(10, 20, 30, 30) { fail_to_start }
    assert_log "warn worker (pid 101) ended before it was ready: exit status 3"
  end

  def test_a_renewal_ends_the_current_pause_but_not_the_next_pause
    keep(1, pause: PAUSE)
    fail_to_start
    %i[renew renew_slowly].each.with_index(2) do |renewal, count|
      @workers.public_send(renewal)
      @workers.tick
      assert_equal count, @started.size
      fail_to_start
    end
    assert_pauses(30) { fail_to_start }
  end

  # One line is enough for all workers.
  def test_a_child_that_cannot_be_forked_is_tried_again
    attempts = 0
    keep(2, pause: 0.01) { raise Errno::EAGAIN if (attempts += 1) < 3 }
    assert_equal [1, true], [attempts, @workers.settled?(:ready)]
    pass_time(0.09)
    assert_equal 1, attempts
    2.times { pass_time(0.1) }
    assert_equal [4, [1, 2]], [attempts, numbers]
    refusal = /\Aerror worker 1 cannot be started: the system refuses another process .*: Resource temporarily un/
    assert_equal 2, @log.grep(refusal).size
    refute @workers.settled?(:ready)
  end

  private

  # The newest worker is ready and ends.
  def be_brief
    @started.last.be_ready
    let_end(@started.last, :exit, 3)
  end

  def fail_to_start = let_end(@started.last, :exit, 3)

  # all: pauses in seconds. Asserts that after each pause, and not before, the next worker starts. The block ends it.
  def assert_pauses(*all)
    all.each do |seconds|
      count = @started.size
      pass_time(seconds - 0.1)
      assert_equal count, @started.size, "after #{seconds - 0.1} s"
      pass_time(0.1)
      assert_equal count + 1, @started.size, "after #{seconds} s"
      yield
    end
  end
end
