# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require_relative "../../support/log_case"
require "bontebok/processes/effective"
require "bontebok/processes/stop/drain_delay"

# Tests when the stop begins after a signal, and when the server shows that it drains.
class DrainDelayTest < Minitest::Test
  include LogCase

  Config = Struct.new(:drain_delay) do
    def seconds(name) = self[name]
  end

  def setup
    super
    @drains = false
    @stops = 0
    @now = 100.0
  end

  def test_the_stop_begins_after_the_delay
    delay = make(5)
    assert_nil delay.deadline
    at(0) { delay.begin(ready: true) }
    assert_equal [true, 105.0], [@drains, delay.deadline]
    assert_equal ["draining: stops in 5 s"], text_of(written)
    at(4.9) { delay.tick }
    assert_equal 0, @stops
    2.times { at(5) { delay.tick } }
    assert_equal [1, nil], [@stops, delay.deadline]
  end

  def test_a_second_signal_ends_the_delay
    delay = make(5)
    2.times { at(0) { delay.begin(ready: true) } }
    assert_equal [1, nil], [@stops, delay.deadline]
    at(6) { delay.tick }
    assert_equal 1, @stops
  end

  # The terminal of the server is closed.
  def test_the_delay_can_be_left_out
    [make(5), make(5).tap { |delay| at(0) { delay.begin(ready: true) } }].each_with_index do |delay, before|
      delay.skip
      assert_equal [before + 1, true, nil], [@stops, delay.begun?, delay.deadline]
    end
  end

  def test_without_a_delay_the_stop_begins_at_once
    delay = make(0)
    delay.begin(ready: true)
    assert_equal [1, false, nil], [@stops, @drains, delay.deadline]
  end

  def test_a_server_that_is_not_ready_stops_at_once
    delay = make(5)
    delay.begin(ready: false)
    assert_equal [1, false, nil], [@stops, @drains, delay.deadline]
  end

  private

  def make(seconds)
    effective = Bontebok::Effective.new(Config.new(seconds))
    Bontebok::DrainDelay.new(effective, ->(drains) { @drains = drains }, log: @log) { @stops += 1 }
  end

  def at(seconds, &)
    Bontebok::Clock.stub(:now, @now + seconds, &)
  end
end
