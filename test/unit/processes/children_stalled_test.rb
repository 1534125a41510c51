# frozen_string_literal: true

require "test_helper"
require_relative "../support/children_case"

# Tests children that hang for longer than worker_timeout.
class ChildrenStalledTest < Support::TestCase
  include ChildrenCase

  # A stand-in for StalledWorkers. looks: the number of calls of #look.
  class Stalled
    attr_reader :time, :looks
    attr_accessor :found

    def initialize
      @time = Bontebok::Clock.now + 60
      @looks = 0
      @found = {}
    end

    def look
      @looks += 1
      @found
    end
  end

  def test_a_stalled_child_is_killed_and_replaced
    stalled = Stalled.new
    keep(2, pause: 60, grace: 60, stalled: stalled) { STUBBORN }
    mind_until { @keeper.settled?(:ready) }
    stalled.found = { @started[1].pid => "has not moved", 1 => "is somebody else's" }
    mind_until { @started.size == 3 }
    assert_equal 2, @started.last.number
    assert_log(/error .* worker 2 \(pid #{@started[1].pid}\) has not moved: killed$/)
    mind_until { logged.include?("has left: killed by SIGKILL") }
    assert_alive @started[0]
  end

  # Children without a request are watched, too.
  def test_children_are_watched_as_soon_as_one_is_ready
    stalled = Stalled.new
    keep(1, stalled: stalled) { stalled.looks.zero? ? WAITING : STEADY }
    mind_until { @keeper.settled?(:loaded) }
    3.times { @keeper.tick }
    assert_equal 0, stalled.looks
    @keeper.go
    mind_until { stalled.looks.positive? }
  end
end
