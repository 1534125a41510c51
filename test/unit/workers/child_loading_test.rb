# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/channel"
require "bontebok/workers/child_loading"

# What a process hears while its hook runs. That it ends when it is to go is in test/integration.
class ChildLoadingTest < Support::TestCase
  def setup
    @parent, @child = Bontebok::Channel.pair
  end

  def teardown
    [@parent, @child].each(&:close)
  end

  def test_what_the_parent_says_is_returned
    words = attend do
      @parent.say(:reopen)
      eventually { @child.to_io.wait_readable(0).nil? }
    end
    assert_equal [:reopen], words
  end

  def test_what_the_hook_raises_is_raised
    assert_raises(IndexError) { attend { raise IndexError } }
    assert_empty(attend { nil })
  end

  # It holds copies of all that is open.
  def test_what_the_hook_forks_is_not_waited_for
    living, life = IO.pipe
    forked = nil
    attend { forked = fork { living.read(1) } }
    assert Support::ProcessTable.entry(forked)
    life.write(".")
    Process.wait(forked)
  ensure
    [living, life].each(&:close)
  end

  private

  def attend(&)
    Bontebok::ChildLoading.attend(@child, nil, &)
  end
end
