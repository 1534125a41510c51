# frozen_string_literal: true

require "test_helper"
require "bontebok/system/event_queue"
require "bontebok/system/loop"
require_relative "../../support/workers/workers_case"

# Tests workers that exceed a time limit, and how long the master may wait. The time while the master itself is frozen
# does not count.
class ChildrenLateTest < Support::TestCase
  include WorkersCase

  LIMIT = 60

  def test_time_while_this_process_is_frozen_does_not_count
    keep(2, grace: LIMIT, boot: LIMIT)
    be_ready(@started[0])
    say(:stuck, by: @started[0]) && be_ready(@started[2])
    be_stopped(3600)
    pass_time(0.5)
    assert_empty @started.flat_map(&:signals)
    pass_time(0.5)
    assert_log "error worker 1 (pid 101) did not end within 1 s: killed"
    pass_time(LIMIT - 2)
    assert_empty @started[1].signals
    pass_time(1)
    assert_log "error worker 2 (pid 102) did not become ready within 60 s: killed"
  end

  # If the parent is frozen during a wait, only the planned length of this wait counts. So the waits must be short.
  def test_waits_are_short_while_a_child_has_a_limit
    keep(1, boot: LIMIT)
    assert_in_delta LIMIT, @workers.deadline - now
    assert_operator wait_seconds, :<=, 0.25
  end

  def test_a_wait_has_no_end_if_there_is_no_limit
    keep(1)
    assert_nil @workers.deadline
    assert_nil wait_seconds
  end

  def test_a_wait_without_a_limit_lasts_until_the_next_check_for_stalled_children
    stalled = Stalled.new(now + LIMIT)
    serve(1, stalled: stalled)
    assert_equal [nil, stalled.time], [@workers.deadline, @workers.next_look]
    assert_in_delta LIMIT, wait_seconds
    stalled.time = nil
    assert_nil wait_seconds
  end

  def test_the_end_of_a_pause_is_a_deadline_unless_the_children_stop
    keep(1, pause: 10)
    let_end(@started[0])
    assert_in_delta 10, @workers.deadline - now
    @workers.stop(:drain)
    assert_nil @workers.deadline
  end

  def test_words_that_wait_in_a_channel_are_sent_again_soon
    serve(1)
    Bontebok::Channel.stub(:full?, true) { assert_in_delta 0.25, @workers.deadline - now }
  end

  private

  # Returns the seconds that the master's loop would wait; nil: no limit.
  def wait_seconds
    seconds = nil
    turn { |*arguments| (seconds = arguments.last) && nil }
    seconds
  end

  # Acts as if this process had been frozen for `seconds` while it waited.
  def be_stopped(seconds) = turn { (@now += seconds) && nil }

  # One turn of the master's loop, with the block in place of IO.select.
  def turn(&select)
    events = Bontebok::EventQueue.new
    turns = Bontebok::Loop.new(events)
    turns.at(@workers)
    turns.look { @workers.next_look }
    count = 0
    IO.stub(:select, select) { turns.run { (count += 1) > 1 } }
  ensure
    events.close
  end
end
