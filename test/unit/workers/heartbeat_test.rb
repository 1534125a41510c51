# frozen_string_literal: true

require "test_helper"
require "bontebok/workers/heartbeat"

# Tests when the main thread shows that it runs. It shows this on the scoreboard (a table in shared memory) and in the
# process's title.
class HeartbeatTest < Support::TestCase
  # A stand-in for the lanes (threads that serve requests) and for the title. resting: the lanes have no requests.
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
    heart.busy
    assert_equal 1, heart.seconds
    @double.resting = false
    3.times { heart.look }
    assert_equal 1, heart.seconds
    @double.resting = true
    heart.look
    assert_nil heart.seconds
    assert_equal 5, @double.beats
    assert_equal %i[idle busy busy busy busy idle], @double.shown
  end

  def test_a_short_limit_makes_the_interval_shorter
    @double.resting = false
    assert_in_delta 0.25, Bontebok::Heartbeat.new(@double, @double, 1.0).seconds
    assert_equal 1, Bontebok::Heartbeat.new(@double, @double, 0).seconds
  end
end
