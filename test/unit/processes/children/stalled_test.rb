# frozen_string_literal: true

require "test_helper"
require_relative "../../support/workers/workers_case"

# Tests workers that hang for longer than worker_timeout.
class ChildrenStalledTest < Support::TestCase
  include WorkersCase

  def test_a_stalled_child_is_killed_and_replaced
    stalled = Stalled.new(now + 60)
    serve(2, pause: 60, stalled: stalled)
    stalled.found = { 102 => "has not moved", 1 => "is somebody else's" }
    2.times { @workers.tick }
    assert_equal [1, 2, 2], numbers
    assert_equal ["error worker 2 (pid 102) has not moved: killed",
                  "info worker 2 (pid 102) has left: killed by SIGKILL"], @log
    assert_equal [:worker_timeout], @gone.map(&:cause)
    assert_serves @started[0]
  end

  def test_a_stalled_child_is_killed_once
    stalled = Stalled.new(now + 60)
    serve(1, stalled: stalled)
    @started[0].busy = true
    stalled.found = { 101 => "has not moved" }
    3.times { @workers.tick }
    assert_equal [:KILL], @started[0].signals
  end

  # Children without a request are watched, too.
  def test_children_are_watched_as_soon_as_one_is_ready
    stalled = Stalled.new(now + 60)
    keep(1, stalled: stalled)
    say(:loaded)
    3.times { @workers.tick }
    assert_equal 0, stalled.looks
    assert_nil @workers.next_look
    say(:ready)
    assert_equal 1, stalled.looks
  end
end
