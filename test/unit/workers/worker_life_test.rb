# frozen_string_literal: true

require "test_helper"
require_relative "../support/log_case"
require "bontebok/workers/worker_life"

# Tests the log lines about a worker's life.
class WorkerLifeTest < Support::TestCase
  include LogCase

  Clock = Struct.new(:now)

  def test_start_readiness_and_end_are_logged
    clock = Clock.new(100.0)
    life = Bontebok::WorkerLife.new(@log, clock: clock)
    clock.now = 100.0456
    life.go
    clock.now = 100.1234
    life.ready
    clock.now = 3700.26
    life.over(1000)
    assert_equal ["started 46 ms ago", "ready after 123 ms"], lines.first(2)
    assert_match(/\Aends after 3600\.3 s, 1000 requests, memory \d+ MB, PSS \d+ MB\z/, lines.last)
  end

  def test_memory_that_the_system_does_not_show_is_left_out
    life = Bontebok::WorkerLife.new(@log, clock: Clock.new(1))
    Bontebok::ProcessMemory.stub(:read, nil) { life.over(1) }
    assert_equal "ends after 0 s, 1 request", lines.last
  end

  private

  def lines
    @lines ||= written.lines.map { |line| text_of(line).first }
  end
end
