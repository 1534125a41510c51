# frozen_string_literal: true

require "test_helper"

# The wait for a state. The error of a wait in vain shows the state at the end, not at the start.
class EventuallyTest < Support::TestCase
  def test_a_wait_returns_the_result_that_it_waited_for
    turns = [nil, false, 3]
    assert_equal(3, eventually { turns.shift })
  end

  def test_the_error_of_a_wait_in_vain_shows_the_last_state
    turns = 0
    error = assert_raises(Support::Timeout) do
      eventually(0.02, "the turns to end", seen: -> { ["turn #{turns}", "as always"] }) { (turns += 1) && false }
    end
    assert_equal "waited in vain for the turns to end\nturn #{turns}\nas always", error.message
  end
end
