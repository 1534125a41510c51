# frozen_string_literal: true

require "io/wait"
require "test_helper"
require "bontebok/system/event_queue"

# Tests EventQueue without signals. SignalQueueTest tests the rest.
class EventQueueTest < Minitest::Test
  def test_events_arrive_in_order
    queue = Bontebok::EventQueue.new
    queue.push(:first)
    Thread.new { queue.push(:second) }.join
    assert queue.to_io.wait_readable(60)
    assert_equal [%i[first second], []], [queue.take, queue.take]
    refute queue.to_io.wait_readable(0)
  ensure
    queue.close
  end

  def test_a_late_event_is_ignored
    queue = Bontebok::EventQueue.new
    queue.close
    assert_nil queue.push(:late)
  end
end
