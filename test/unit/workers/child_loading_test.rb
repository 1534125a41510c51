# frozen_string_literal: true

require "test_helper"
require "timeout"
require "bontebok/sockets/channel"
require "bontebok/workers/child_loading"

# Tests the words (messages) that a process gets from its parent while the process runs a hook or waits to serve.
# test/integration tests a process that must end during a hook.
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

  # The words can arrive together, in one read.
  def test_a_process_that_is_told_to_serve_and_to_end_ends
    %i[retire quit].each do |word|
      [:go, :reopen, word].each { |one| @parent.say(one) }
      assert_nil wait_for(:go), word
    end
  end

  def test_a_process_that_is_told_to_serve_and_to_drain_serves_what_is_queued
    %i[go drain].each { |word| @parent.say(word) }
    assert_equal [:drain], wait_for(:go)
  end

  # The parent says no :serve to a child that it has told to end.
  def test_a_process_that_was_told_to_drain_does_not_wait_for_another_word
    assert_nil wait_for(:serve, [:drain])
  end

  def test_words_from_before_the_wait_are_kept
    @parent.say(:serve)
    assert_equal [:reopen], wait_for(:serve, [:reopen])
  end

  private

  def wait_for(word, *words)
    Timeout.timeout(Support::Deadline::DEFAULT_SECONDS) { Bontebok::ChildLoading.wait_for(word, @child, *words) }
  end

  def attend(&)
    Bontebok::ChildLoading.attend(@child, nil, &)
  end
end
