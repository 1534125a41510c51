# frozen_string_literal: true

require "test_helper"

# The wait for a state: who waits in vain is told how things stood at the end, not at the start.
class EventuallyTest < Support::TestCase
  def test_returns_what_it_waited_for
    turns = [nil, false, 3]
    assert_equal(3, eventually { turns.shift })
  end

  def test_in_vain_it_tells_what_was_seen_last
    turns = 0
    error = assert_raises(Support::Timeout) do
      eventually(0.02, "the turns to end", seen: -> { ["turn #{turns}", "as always"] }) { (turns += 1) && false }
    end
    assert_equal "waited in vain for the turns to end\nturn #{turns}\nas always", error.message
  end
end
