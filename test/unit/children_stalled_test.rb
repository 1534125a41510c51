# frozen_string_literal: true

require "test_helper"
require_relative "support/children_case"

# Children that have something to do and do not move.
class ChildrenStalledTest < Support::TestCase
  include ChildrenCase

  # Whom the test calls stalled.
  class Stalled
    attr_reader :time, :looks
    attr_accessor :found

    def initialize
      @time = Float::INFINITY
      @looks = 0
      @found = {}
    end

    def look
      @looks += 1
      @found
    end
  end

  # At rest, until the test says by a signal that it is not.
  RESTING = lambda do |channel|
    Signal.trap("USR1") { channel.say(:busy) }
    %i[loaded ready resting].each { |word| channel.say(word) }
    channel.to_io.wait_readable until channel.hear.intersect?(%i[quit closed])
    0
  end

  def test_one_is_killed_and_replaced
    stalled = Stalled.new
    keep(2, pause: 60, patience: 60, stalled: stalled) { STUBBORN }
    mind_until { @keeper.settled?(:ready) }
    stalled.found = { @started[1].pid => "has not moved", 1 => "is somebody else's" }
    mind_until { @started.size == 3 }
    assert_equal 2, @started.last.number
    assert_log(/error .* worker 2 \(pid #{@started[1].pid}\) has not moved: killed$/)
    mind_until { logged.include?("has left: killed by SIGKILL") }
    assert_alive @started[0]
  end

  def test_those_at_rest_are_not_watched
    stalled = Stalled.new
    keep(1, stalled: stalled) { RESTING }
    mind_until { @keeper.settled?(:ready) && !@started[0].busy? }
    looks = stalled.looks
    3.times { @keeper.mind }
    assert_equal looks, stalled.looks
    Process.kill("USR1", @started[0].pid)
    mind_until { stalled.looks > looks }
  end
end
