# frozen_string_literal: true

require "test_helper"
require_relative "../support/adopted_workers_case"

# Tests how long adopted workers may wait for hijacked connections and streams (hijack_timeout).
class AdoptedWorkersHijackTest < Support::TestCase
  include AdoptedWorkersCase

  LIMIT = HIJACK + Bontebok::ForkedProcess::KILL_SECONDS

  # Only the tests move the clock.
  def run
    @now = 0
    Bontebok::Clock.stub(:now, -> { @now }) { super }
  end

  def test_a_retired_worker_with_hijacked_connections_is_killed_after_the_hijack_timeout
    waiting, late = adopt_workers(2, waiting: 1)
    tick(0)
    pass(GRACE)
    assert_killed late
    assert_spared waiting
    assert_in_delta LIMIT - GRACE, @adopted.deadline - Bontebok::Clock.now
    pass(LIMIT - GRACE - 1)
    assert_spared waiting
    pass(1)
    assert_killed waiting
  end

  # A worker gives its lanes back when its process ends, after the wait.
  def test_a_worker_that_ends_is_not_killed_with_the_late_ones
    ends, late = adopt_workers(2, waiting: 0)
    tick(0)
    @scoreboard.pids = [late]
    pass(GRACE)
    assert_killed late
    assert_spared ends
    pass(LIMIT - GRACE)
    assert_killed ends
  end

  # hijack_timeout of the worker itself has begun before.
  def test_the_time_of_a_worker_that_is_leaving_begins_with_its_adoption
    pid = start(1).last
    @scoreboard.leaving = @scoreboard.waiting = [pid]
    @now += 1000
    @adopted.take
    pass(LIMIT - 1)
    assert_spared pid
    pass(1)
    assert_killed pid
  end

  def test_a_graceful_stop_waits_for_hijacked_connections
    pid = adopt_workers(1, waiting: 1).last
    @adopted.stop(:drain)
    pass(LIMIT - 1)
    assert_spared pid
    pass(1)
    assert_killed pid
  end

  def test_a_worker_adopted_after_the_stop_has_the_time_that_is_left
    @adopted.stop(:drain)
    @now += 100
    pid = adopt_workers(1, waiting: 1).last
    pass(LIMIT - 101)
    assert_spared pid
    pass(1)
    assert_killed pid
  end

  # The master has hung and has not told its workers to end.
  def test_a_worker_adopted_late_in_a_stop_has_the_time_to_show_that_it_waits
    @adopted.stop(:drain)
    @now += GRACE + 5
    late, waiting = adopt_workers(2, waiting: 0)
    pass(2.9)
    assert_spared late
    @scoreboard.waiting = [waiting]
    pass(0.1)
    assert_killed late
    pass(LIMIT - GRACE - 5 - 3.1)
    assert_spared waiting
    pass(0.1)
    assert_killed waiting
  end

  def test_a_stop_at_once_does_not_wait_for_hijacked_connections
    pid = adopt_workers(1, waiting: 1).last
    tick(0)
    pass(GRACE)
    @adopted.stop(:quit)
    pass(Bontebok::ForkedProcess::QUIT_SECONDS)
    assert_killed pid
  end

  def test_a_hijack_timeout_below_the_graceful_timeout_shortens_nothing
    @times.hijack_timeout = 1
    @adopted.configure(@times)
    pid = adopt_workers(1, waiting: 1).last
    tick(0)
    pass(GRACE - 1)
    assert_spared pid
    pass(1)
    assert_killed pid
  end

  def test_times_come_from_the_configuration
    first = adopt_workers(1, waiting: 1).last
    tick(0)
    @times.hijack_timeout = HIJACK + 10
    @adopted.configure(@times)
    second = adopt_workers(1, waiting: 2).last
    tick(0)
    [[first, LIMIT], [second, 10]].each do |pid, more|
      pass(more - 1)
      assert_spared pid
      pass(1)
      assert_killed pid
    end
  end

  private

  # Starts and adopts workers. The first ones of all workers show hijacked connections.
  def adopt_workers(count, waiting:)
    pids = start(count)
    @scoreboard.waiting = @pids.first(waiting)
    @adopted.take
    pids
  end

  def pass(seconds)
    @now += seconds
    tick(9)
  end

  def assert_spared(pid)
    refute_match(/pid #{pid}\).* killed/, logged)
  end

  def assert_killed(pid)
    assert_equal 1, logged.scan("pid #{pid}) did not end in time: killed").size
    assert_equal 9, Process.wait2(pid).last.termsig
  end
end
