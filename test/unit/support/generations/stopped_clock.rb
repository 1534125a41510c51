# frozen_string_literal: true

require "minitest/mock"
require "bontebok/system/clock"

# The Clock of a test stands still, until the test lets time pass.
module StoppedClock
  BEGIN_AT = 1000

  def run = Bontebok::Clock.stub(:now, -> { now }) { super }

  private

  def now = @now ||= BEGIN_AT

  def pass_time(seconds)
    @now = now + seconds
  end
end
