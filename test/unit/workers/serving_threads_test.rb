# frozen_string_literal: true

require "test_helper"
require "timeout"
require "bontebok/config/hooks"
require "bontebok/workers/serving_threads"

class ServingThreadsTest < Support::TestCase
  # A lane whose `serve` calls the block with the number of its calls.
  class Lane
    attr_reader :starts

    def initialize(&block)
      @block = block
      @starts = []
    end

    def serve
      @starts << Bontebok::Clock.now
      @block.call(@starts.size)
    end
  end

  # Keeps the messages in place of a Log.
  Log = Struct.new(:messages) do
    def error(message, _exception) = messages << message
  end

  # Keeps the messages in place of an OwnProcess.
  Process = Struct.new(:messages) do
    def exits? = false

    def damaged(message, error) = messages << [message, error&.message]
  end

  def setup
    super
    @process = Process.new([])
    @log = Log.new([])
    @ended = Queue.new
  end

  def test_a_thread_gets_a_successor_at_most_every_tenth_of_a_second
    lane = Lane.new { |count| Thread.current.kill if count < 4 }
    finish(start(lane))

    assert_equal 4, lane.starts.size
    assert(lane.starts.each_cons(2).all? { |first, second| second - first >= 0.1 }, lane.starts.inspect)
    assert_equal ["a serving thread was killed: a new thread takes its place"] * 3, @process.messages.map(&:first)
  end

  def test_a_thread_that_is_killed_before_it_serves_gets_a_successor
    lane = Lane.new { nil }
    threads = start(lane) { |started| started.each(&:kill) }
    finish(threads)

    assert_equal 1, lane.starts.size
  end

  # The process must not ask for its replacement, in which the hook would do the same.
  def test_a_hook_that_kills_its_thread_does_not_end_the_process
    lane = Lane.new { nil }
    hooks = Bontebok::Hooks.new
    hooks.add(:before_thread_start, -> { Thread.current.kill })
    finish(start(lane, hooks))

    assert_equal [1, []], [lane.starts.size, @process.messages]
    assert_equal ["a serving thread was killed: a new thread takes its place"], @log.messages
  end

  def test_exceptions_that_are_pending_reach_nobody
    lane = Lane.new { |count| Thread.handle_interrupt(Object => :never) { 5.times { raise_here } } if count == 1 }
    finish(start(lane))

    assert_equal [["a serving thread has failed: a new thread takes its place", "for a thread"]], @process.messages
  end

  def test_the_block_of_start_runs_before_a_lane_serves
    order = Queue.new
    lane = Lane.new { order << :serves }
    threads = Bontebok::ServingThreads.new([lane], hooks: Bontebok::Hooks.new, process: @process, log: @log) do
      @ended << true
    end
    threads.start { 100.times { Thread.pass } && order.push(:ready) }
    finish(threads)

    assert_equal :ready, order.pop
  end

  # A ThreadError, too, which is also raised when a thread cannot be created.
  def test_no_lane_serves_if_the_block_of_start_raises
    [ThreadError, IOError].each do |kind|
      lane = Lane.new { nil }
      threads = Bontebok::ServingThreads.new([lane], hooks: Bontebok::Hooks.new, process: @process, log: @log) do
        @ended << true
      end

      assert_raises(kind) { Timeout.timeout(60) { threads.start { raise kind } } }
      refute_predicate threads, :alive?
      assert_empty lane.starts
    end
  end

  private

  def raise_here = Thread.current.raise("for a thread")

  # Yields the threads before they run, because this thread holds Ruby's lock.
  def start(lane, hooks = Bontebok::Hooks.new)
    Bontebok::ServingThreads.new([lane], hooks: hooks, process: @process, log: @log) { @ended << true }.tap do |threads|
      threads.start
      yield threads.instance_variable_get(:@threads) if block_given?
    end
  end

  def finish(threads)
    Timeout.timeout(60) { @ended.pop }
    threads.join
    # A thread logs its end after the start of its successor.
    eventually { Thread.list.none? { |thread| thread.name.to_s.start_with?("bontebok") } }

    refute_predicate threads, :alive?
  end
end
