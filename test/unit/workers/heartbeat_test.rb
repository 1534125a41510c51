# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/workers/heartbeat"

# Tests when the main thread shows that it runs. It shows this on the scoreboard (a table in shared memory) and in the
# process's title.
class HeartbeatTest < Support::TestCase
  # A stand-in for the lanes and for the title. resting: the lanes have no requests.
  class Double
    attr_accessor :resting
    attr_reader :beats, :shown

    def initialize
      @beats = 0
      @shown = []
    end

    def beat = @beats += 1
    def rest = resting
    def busy = @shown << :busy
    def idle = @shown << :idle
  end

  def setup
    @double = Double.new
    @double.resting = true
  end

  def test_the_heart_beats_until_the_lanes_rest
    heart = Bontebok::Heartbeat.new(@double, @double, 60)
    assert_nil heart.deadline
    at(10) { heart.busy }
    assert_equal 11, heart.deadline
    @double.resting = false
    [11, 12, 13].each { |time| at(time) { heart.tick } }
    assert_equal 14, heart.deadline
    @double.resting = true
    at(14) { heart.tick }
    assert_nil heart.deadline
    assert_equal 5, @double.beats
    assert_equal %i[idle busy busy busy busy idle], @double.shown
  end

  # The main thread also wakes up for other events.
  def test_a_beat_is_due_at_a_fixed_time
    @double.resting = false
    heart = at(10) { Bontebok::Heartbeat.new(@double, @double, 60) }
    assert_equal([1, 1, 2, 2], [10.5, 10.9, 11, 11.5].map { |time| beat_at(time, heart) })
  end

  def test_a_short_limit_makes_the_interval_shorter
    @double.resting = false
    { 1.0 => 10.25, 0 => 11 }.each do |limit, time|
      at(10) { assert_in_delta time, Bontebok::Heartbeat.new(@double, @double, limit).deadline }
    end
  end

  private

  # The number of beats after a tick at this time.
  def beat_at(time, heart)
    at(time) { heart.tick }
    @double.beats
  end

  def at(seconds, &)
    Bontebok::Clock.stub(:now, seconds, &)
  end
end
