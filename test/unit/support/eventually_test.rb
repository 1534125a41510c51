# frozen_string_literal: true

require "test_helper"

# Tests `eventually`. The error after the limit shows the state at the end of the wait, not at its start.
class EventuallyTest < Support::TestCase
  def test_a_wait_returns_the_result_that_it_waited_for
    turns = [nil, false, 3]
    assert_equal(3, eventually { turns.shift })
  end

  def test_the_error_after_the_limit_shows_the_last_state
    turns = 0
    error = assert_raises(Support::Timeout) do
      eventually("the turns to end", limit: 0.02, seen: -> { ["turn #{turns}", "as always"] }) { (turns += 1) && false }
    end
    assert_equal "waited in vain for the turns to end\nturn #{turns}\nas always", error.message
  end
end
