# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/stalled_workers"

# Tests how StalledWorkers finds workers that hang. The scoreboard and the clock are stand-ins.
class StalledWorkersTest < Support::TestCase
  Board = Struct.new(:lanes)
  Clock = Struct.new(:now, :lost)

  def setup
    @scoreboard = Board.new([])
    @clock = Clock.new(1000, 0)
    @stops = {}
    @stalled = Bontebok::StalledWorkers.new(@scoreboard, 60, clock: @clock, stops: @stops.method(:[]))
  end

  def test_a_worker_that_does_not_move_is_stalled
    show(lane(1, taken: 60_000, silent: 60_000, label: "GET /a"), lane(1, taken: 61_000, silent: 60_000),
         lane(2, taken: 59_000, silent: 70_000, label: "GET /b"), lane(3))
    assert_equal({ 1 => "has not moved for 60 s, with these requests: GET /a, 1 without a name" }, watch_for(60))
  end

  def test_a_worker_that_has_never_moved_is_stalled
    show(lane(1, taken: 60_000))
    assert_equal({ 1 => "has not moved for 60 s, with these requests: 1 without a name" }, watch_for(60))
  end

  def test_a_worker_that_moves_or_has_no_request_is_not_stalled
    show(lane(1, taken: 600_000, silent: 1000), lane(2, silent: 600_000))
    assert_empty watch_for(60)
  end

  # The oldest request counts. A younger request does not start the time again.
  def test_a_worker_that_takes_another_request_is_still_stalled
    show(lane(1, taken: 60_000, silent: 60_000, label: "GET /a"), lane(1, taken: 1000, silent: 60_000, label: "PUT /b"))
    assert_equal({ 1 => "has not moved for 60 s, with these requests: GET /a, PUT /b" }, watch_for(60))
  end

  def test_one_worker_that_runs_is_enough
    refute moving?
    show(lane(1, taken: 60_000, silent: 60_000), lane(1), lane(2))
    assert moving?
    @stops[2] = "a stop"
    refute moving?
    assert moving?(0) && moving?(61)
    show(lane(1, taken: 60_000, silent: 1000), lane(2))
    assert moving?
  end

  def test_a_look_before_the_due_time_finds_nothing
    show(lane(1, taken: 60_000))
    watch_for(60)
    assert_empty @stalled.look
    assert_equal @clock.now + 15, @stalled.time
  end

  STOPPED = "has not moved for 60 s: its process is frozen, without a request"

  def test_a_frozen_worker_without_a_request_is_stalled
    show(lane(1), lane(1), lane(2))
    @stops[1] = "a stop"
    assert_empty watch_for(60)
    assert_equal({ 1 => STOPPED }, watch_for(15))
  end

  def test_a_freeze_counts_only_if_it_lasts
    show(lane(1))
    @stops[1] = "a stop"
    assert_empty watch_for(60)
    @stops[1] = "another stop"
    assert_empty watch_for(60)
    assert_equal({ 1 => STOPPED }, watch_for(15))
    @stops.clear
    assert_empty watch_for(15)
    @stops[1] = "another stop"
    assert_empty watch_for(60)
  end

  def test_the_time_of_a_freeze_starts_again_if_the_watching_process_was_frozen
    show(lane(1))
    @stops[1] = "a stop"
    assert_empty watch_for(60)
    @clock.lost += 16
    assert_empty watch_for(60)
    assert_equal({ 1 => STOPPED }, watch_for(15))
  end

  # All processes may have been frozen at the same time.
  def test_the_time_of_a_worker_starts_again_if_the_watching_process_was_frozen
    show(lane(1, taken: 90_000))
    @clock.lost += 61
    assert_empty watch_for(60)
    refute_empty watch_for(15)
  end

  def test_the_time_of_a_worker_starts_again_after_a_long_time_without_a_look
    show(lane(1, taken: 90_000))
    @clock.now += 3600
    assert_empty @stalled.look
    assert_empty watch_for(45)
    refute_empty watch_for(15)
  end

  def test_a_look_that_is_a_little_late_counts
    show(lane(1, taken: 90_000))
    assert_empty @stalled.look
    @clock.lost += 14
    refute_empty watch_for(60)
  end

  private

  def moving?(seconds = 60)
    Bontebok::StalledWorkers.moving?(@scoreboard, seconds, stops: @stops.method(:[]))
  end

  def lane(pid, taken: nil, silent: nil, label: nil)
    { pid: pid, taken: taken, silent: silent, label: label }
  end

  def show(*lanes)
    @scoreboard.lanes = lanes
  end

  # Calls #look every 15 s for `seconds`. Returns the result of the last call.
  def watch_for(seconds)
    found = nil
    (seconds / 15).times do
      @clock.now += 15
      found = @stalled.look
    end
    found
  end
end
