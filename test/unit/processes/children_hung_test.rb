# frozen_string_literal: true

require "test_helper"
require_relative "../support/children_case"

# Tests children in which requests hang.
class ChildrenHungTest < Support::TestCase
  include ChildrenCase

  # Sends a word (a message) to its parent for each signal of the test. Ends only after :quit, or if the channel to the
  # parent is closed.
  HANGING = lambda do |channel|
    { "USR1" => :hung, "USR2" => :stuck, "HUP" => :emptied, "QUIT" => :leave }.each do |signal, word|
      Signal.trap(signal) { channel.say(word) }
    end
    channel.say(:loaded)
    channel.say(:ready)
    channel.to_io.wait_readable until channel.hear.intersect?(%i[quit closed])
    0
  end

  def test_all_children_that_hang_are_replaced_at_once
    hang(3, "USR1")
    assert_equal [1, 2, 3], @started.last(3).map(&:number).sort
    @started.first(3).each { |child| assert_alive child }
    assert_log(/worker 2 \(pid #{@started[1].pid}\) hangs in a request: it leaves when its replacement is ready$/)
  end

  def test_a_child_that_hangs_serves_until_its_replacement_is_ready
    keep(1, grace: 60) { @started.empty? ? HANGING : WAITING }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("USR1", @started[0].pid)
    mind_until { @started.size == 2 && @started[1].reached?(:loaded) }
    refute_predicate @started[0], :leaving?
    @keeper.go
    mind_until { @started[0].leaving? }
    pass_time(60)
    mind_until { gone?(@started[0]) }
    assert_log(/did not end within 60 s: killed/)
  end

  def test_a_child_that_hangs_in_all_threads_has_a_second_to_end
    keep(1, grace: 60) { @started.empty? ? HANGING : LOADING }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("USR2", @started[0].pid)
    mind_until { @started.size == 2 }
    assert_alive @started[0]
    pass_time(1)
    mind_until { logged.include?("has left") }
    assert_log(/worker \(pid #{@started[0].pid}\) hangs in all its threads: it ends within 1 s$/)
    assert_log(/worker \(pid #{@started[0].pid}\) did not end within 1 s: killed$/)
    assert_log(/info \d+ \S+ \S+ worker \(pid #{@started[0].pid}\) has left: killed by SIGKILL$/)
  end

  def test_a_child_that_leaves_and_hangs_in_all_threads_has_a_second_to_end
    keep(1, grace: 60) { HANGING }
    mind_until { @keeper.settled?(:ready) }
    @keeper.stop(:drain)
    Process.kill("USR2", @started[0].pid)
    mind_until { logged.include?("hangs in all its threads") }
    pass_time(1)
    mind_until { @keeper.empty? }
    assert_log(/did not end within 1 s: killed$/)
  end

  def test_a_child_that_has_only_requests_that_hang_is_killed_at_once
    keep(1, grace: 60) { @started.empty? ? HANGING : STEADY }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("HUP", @started[0].pid)
    mind_until { gone?(@started[0]) && @started.size == 2 }
    assert_log(/worker \(pid #{@started[0].pid}\) has only requests that hang: killed$/)
  end

  def test_at_most_twice_the_wanted_number_of_children_run
    hang(2, "USR1")
    newer = @started.last(2)
    newer.each { |child| Process.kill("USR1", child.pid) }
    mind_until { logged.scan("hangs in a request").size == 4 }
    3.times { @keeper.tick }
    assert_equal 4, @started.size
    assert_equal 1, logged.scan(/ warn .* [34] workers hang, 2 more than there must be: /).size
    Process.kill("KILL", @started.first.pid)
    mind_until { @started.size == 5 }
    assert_equal 1, @started.last.number
  end

  def test_a_child_that_hangs_does_not_delay_the_replacement_of_another_child
    keep(2, grace: 60) { @started.size < 2 ? HANGING : STEADY }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("USR1", @started[0].pid)
    mind_until { @started[0].leaving? }
    Process.kill("QUIT", @started[1].pid)
    mind_until { @started[1].leaving? }
    assert_alive @started[0]
  end

  # A child that hangs does not count as a failed start.
  def test_no_pause_follows_a_child_that_hangs
    keep(1, pause: 30, grace: 60) { HANGING }
    5.times do |count|
      mind_until { @started.size == count + 1 && @started.last.reached?(:ready) }
      Process.kill("HUP", @started.last.pid)
    end
    mind_until { @started.size == 6 }
    assert_equal [1], @started.map(&:number).uniq
  end

  private

  # Starts `count` children, lets all of them hang, and waits until new children have replaced them.
  def hang(count, signal)
    keep(count, grace: 60) { HANGING }
    mind_until { @keeper.settled?(:ready) }
    @started.first(count).each { |child| Process.kill(signal, child.pid) }
    mind_until { @started.size == 2 * count && @started.first(count).all?(&:leaving?) }
  end
end
