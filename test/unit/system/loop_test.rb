# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/system/event_queue"
require "bontebok/system/loop"

# Tests the order of the steps of a turn, and how long the loop waits.
class LoopTest < Support::TestCase
  class Fault < StandardError
  end

  Part = Struct.new(:deadline, :action) do
    def tick = action&.call
  end
  Sources = Struct.new(:sources)

  def setup
    @events = Bontebok::EventQueue.new
    @pipes = []
    @raised = []
    @done = []
    @loop = Bontebok::Loop.new(@events) { |exception| @raised << exception.class }
  end

  def teardown
    [@events, *@pipes.flatten].each(&:close)
  end

  def test_a_turn_ticks_waits_takes_the_events_hears_and_handles
    @loop.tick { @done << :tick }
    @loop.limit { (@done << :wait) && nil }
    @loop.hear { @done << :hear << taken? }
    @loop.on("TERM", :restart) { |event| @done << event }
    ["TERM", :other, :restart].each { |event| @events.push(event) }
    turns(1)
    assert_equal [:tick, :wait, :hear, true, "TERM", :restart, :tick], @done
  end

  def test_the_loop_ends_after_the_ticks_without_a_wait
    @loop.tick { @done << :tick }
    IO.stub(:select, proc { flunk }) { @loop.run { @done.any? } }
    assert_equal [:tick], @done
  end

  def test_parts_tick_in_their_order
    first, last = Array.new(2) { |number| Part.new(nil, -> { @done << number }) }
    @loop.at(first)
    @loop.tick { @done << :between }
    @loop.at(last)
    turns(0)
    assert_equal [0, :between, 1], @done
  end

  def test_the_earliest_time_ends_the_wait
    [110.2, 100.125, 100.5, Float::INFINITY, nil].each { |time| @loop.at(Part.new(time)) }
    assert_in_delta 0.125, wait
    @loop.look { 99.0 }
    assert_equal 0, wait
  end

  # Clock notices a freeze only if the wait that it interrupts ends late.
  def test_a_wait_is_short_while_there_is_a_limit
    part = Part.new(110)
    @loop.at(part)
    assert_equal Bontebok::Clock::STEP, wait
    part.deadline = nil
    assert_nil wait
    part.deadline = Float::INFINITY
    assert_nil wait
  end

  def test_a_time_that_is_no_limit_lets_the_process_sleep
    @loop.look { 110.0 }
    assert_in_delta 10, wait
    @loop.limit { 200.0 }
    assert_equal Bontebok::Clock::STEP, wait
  end

  def test_a_readable_source_ends_the_wait
    readers = Array.new(2) { pipe }
    @loop.watch(Sources.new([readers[0]]))
    @loop.watch { [readers[1]] }
    @loop.hear { @done << readers.map { |reader| @loop.ready?(reader) } }
    @pipes[1].last.write(".")
    turns(1)
    assert_equal [[false, true]], @done
  end

  def test_sources_are_asked_before_each_wait
    sources = Sources.new([pipe])
    @loop.watch(sources)
    @pipes[0].last.write(".")
    turns(1)
    sources.sources = []
    assert_nil wait
    refute @loop.ready?(@pipes[0].first)
  end

  def test_an_exception_of_another_thread_ends_only_the_wait
    main = Thread.current
    @loop.hear { @done << :hear }
    Bontebok::MainThread.guard do
      Thread.new { main.raise(Fault) }.join
      turns(1)
    end
    assert_equal [[Fault], [:hear]], [@raised, @done]
  end

  # Otherwise the loop would spin.
  def test_a_source_that_the_application_has_closed_raises
    reader = pipe
    @loop.watch { [reader] }
    reader.close
    assert_raises(IOError) { turns(1) }
    assert_empty @raised
  end

  private

  # Lets the loop wait that many times.
  def turns(number)
    @events.push(:turn) if number.positive? # nothing else may end the wait
    count = -1
    @loop.run { (count += 1) == number }
  end

  # The seconds for which the loop waits, at the time 100.
  def wait
    seconds = :none
    count = -1
    Bontebok::Clock.stub(:now, 100) do
      IO.stub(:select, proc { |*arguments| (seconds = arguments.last) && nil }) { @loop.run { (count += 1) == 1 } }
    end
    seconds
  end

  def taken? = @events.take.empty?

  def pipe
    @pipes << IO.pipe
    @pipes.last.first
  end
end
