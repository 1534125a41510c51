# frozen_string_literal: true

require "test_helper"
require "timeout"
require "bontebok/sockets/channel"
require "bontebok/workers/worker_start"

# Tests a worker that serves together with others, and gets the word (a message of its parent) to end before that.
class WorkerStartTest < Support::TestCase
  # A worker without hooks and checks.
  class Starting
    include Bontebok::WorkerStart

    def initialize(channel)
      @channel = channel
      @together = true
      @life = Class.new { def go; end }.new
    end

    public :get_ready

    def run_ready_hook = []
    def check_readiness(_app) = []
  end

  def setup
    @parent, @child = Bontebok::Channel.pair
  end

  def teardown
    [@parent, @child].each(&:close)
  end

  # The parent does not say :serve, because it has said how to end.
  def test_a_worker_that_was_told_to_drain_does_not_wait_until_it_may_serve
    Timeout.timeout(Support::Deadline::DEFAULT_SECONDS) { assert_nil Starting.new(@child).get_ready(nil, [:drain]) }
  end

  def test_a_worker_serves_when_its_parent_says_so_and_keeps_the_words_from_before
    @parent.say(:serve)
    assert_equal [:reopen], Starting.new(@child).get_ready(nil, [:reopen])
    assert_equal [:prepared], @parent.hear
  end
end
