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
    assert_nil heart.seconds
    at(10) { heart.busy }
    assert_equal 1, at(10) { heart.seconds }
    @double.resting = false
    3.times { at(11) { heart.look } }
    assert_equal 1, at(11) { heart.seconds }
    @double.resting = true
    heart.look
    assert_nil heart.seconds
    assert_equal 5, @double.beats
    assert_equal %i[idle busy busy busy busy idle], @double.shown
  end

  # The main thread also wakes up for other events.
  def test_a_beat_is_due_at_a_fixed_time
    heart = Bontebok::Heartbeat.new(@double, @double, 60)
    at(10) { heart.busy }
    assert_equal([0.5, 0, 0], [10.5, 11, 12].map { |time| at(time) { heart.seconds } })
  end

  def test_a_short_limit_makes_the_interval_shorter
    @double.resting = false
    { 1.0 => 0.25, 0 => 1 }.each do |limit, interval|
      at(10) { assert_in_delta interval, Bontebok::Heartbeat.new(@double, @double, limit).seconds }
    end
  end

  private

  def at(seconds, &)
    Bontebok::Clock.stub(:now, seconds, &)
  end
end
