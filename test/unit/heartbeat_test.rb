# frozen_string_literal: true

require "test_helper"
require "bontebok/heartbeat"
require "bontebok/life_signs"

# When the main thread shows that it moves.
class HeartbeatTest < Support::TestCase
  # A core that rests, or not, and a title.
  class Double
    attr_accessor :resting
    attr_reader :beats, :shown, :words

    def initialize
      @beats = 0
      @shown = []
      @words = []
    end

    def beat = @beats += 1
    def rest = resting
    def busy = @shown << :busy
    def idle = @shown << :idle
    def say(word) = @words << word
  end

  def setup
    @double = Double.new
    @double.resting = true
    @signs = Bontebok::LifeSigns.new(@double, @double)
  end

  def test_a_worker_that_rests_and_has_requests_again
    heart = Bontebok::Heartbeat.new(@signs, @double, 60)
    assert_nil heart.seconds
    @signs.busy
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
    assert_equal %i[resting busy resting], @double.words
  end

  def test_a_short_limit
    @double.resting = false
    assert_in_delta 0.25, Bontebok::Heartbeat.new(@signs, @double, 1.0).seconds
    assert_equal 1, Bontebok::Heartbeat.new(@signs, @double, 0).seconds
  end

  def test_without_a_parent
    signs = Bontebok::LifeSigns.new(@double, nil)
    signs.busy
    assert signs.rest
    assert_empty @double.words
  end
end
