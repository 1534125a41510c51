# frozen_string_literal: true

require "test_helper"
require_relative "../support/children_case"

# Tests the replacement of children one after the other.
class ChildrenTurnsTest < Support::TestCase
  include ChildrenCase

  # Ends only when the test sends USR2. Does not read the messages of its parent.
  SLOW = lambda do |channel|
    Signal.trap("USR1") { channel.say(:leave) }
    Signal.trap("USR2") { exit!(0) }
    channel.say(:loaded)
    channel.say(:ready)
    sleep
  end

  def test_the_second_child_that_asks_to_leave_waits_until_the_first_has_ended
    keep(2, grace: 60) { @started.size < 2 ? SLOW : STEADY }
    mind_until { @keeper.settled?(:ready) }
    first, second = @started
    Process.kill("USR1", first.pid)
    mind_until { first.leaving? }
    Process.kill("USR1", second.pid)
    assert second.channel.to_io.wait_readable(60)
    3.times { @keeper.tick }
    assert_equal [1, 2, 1], @started.map(&:number)
    Process.kill("USR2", first.pid)
    mind_until { second.leaving? }
    assert_equal [1, 2, 1, 2], @started.map(&:number)
    Process.kill("USR2", second.pid)
  end

  def test_all_children_are_renewed_slowly_and_never_two_at_once
    keep(3) { STEADY }
    mind_until { @keeper.settled?(:ready) }
    former = @started.dup
    @keeper.renew_slowly
    most = 0
    mind_until { (most = [most, @started.count { |child| !gone?(child) }].max) && former.all? { |child| gone?(child) } }
    assert_equal [1, 2, 3, 1, 2, 3], @started.map(&:number)
    assert_equal 4, most
  end

  def test_a_child_that_ends_before_its_turn_is_skipped
    keep(3, grace: 60) { @started.size < 3 ? SLOW : STEADY }
    mind_until { @keeper.settled?(:ready) }
    first, second, third = @started
    @keeper.renew_slowly
    mind_until { first.leaving? }
    Process.kill("KILL", second.pid)
    mind_until { @started.size == 5 }
    Process.kill("USR2", first.pid)
    mind_until { third.leaving? }
    assert_equal [1, 2, 3, 1, 2, 3], @started.map(&:number)
    Process.kill("USR2", third.pid)
  end

  def test_no_other_child_is_replaced_while_a_replacement_fails
    keep(2, pause: 0.01) { @started.size < 2 ? STEADY : FAILING }
    mind_until { @keeper.settled?(:ready) }
    @keeper.renew_slowly
    mind_until { @started.size == 5 }
    assert_equal [1, 2, 1, 1, 1], @started.map(&:number)
    @started.first(2).each { |child| assert_alive child }
  end
end
