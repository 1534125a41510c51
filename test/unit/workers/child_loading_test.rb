# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/channel"
require "bontebok/workers/child_loading"

# Tests the words (messages) that a process gets from its parent while the process runs a hook. test/integration tests a
# process that must end during a hook.
class ChildLoadingTest < Support::TestCase
  def setup
    @parent, @child = Bontebok::Channel.pair
  end

  def teardown
    [@parent, @child].each(&:close)
  end

  def test_words_of_the_parent_are_returned
    words = attend do
      @parent.say(:reopen)
      eventually { @child.to_io.wait_readable(0).nil? }
    end
    assert_equal [:reopen], words
  end

  def test_an_exception_of_the_hook_is_raised
    assert_raises(IndexError) { attend { raise IndexError } }
    assert_empty(attend { nil })
  end

  # The forked process has copies of all open descriptors.
  def test_a_process_that_the_hook_forks_is_not_waited_for
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
