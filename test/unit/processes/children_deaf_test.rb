# frozen_string_literal: true

require "test_helper"
require_relative "../support/children_case"

# Tests children that have closed their channel (the socket to their parent) and still run.
class ChildrenDeafTest < Support::TestCase
  include ChildrenCase

  # Closes its channel when the test sends USR1, as exec would.
  DEAF = lambda do |channel|
    reader, writer = IO.pipe
    Signal.trap("USR1") { writer.close }
    channel.say(:loaded)
    channel.say(:ready)
    reader.wait_readable
    channel.close
    sleep
  end
  DEAF_WHILE_LOADING = lambda do |channel|
    Signal.trap("TERM", "IGNORE")
    channel.close
    sleep
  end

  def test_a_child_without_a_channel_is_replaced_at_once_and_has_time_to_end
    keep(1, grace: 60) { @started.empty? ? DEAF : STEADY }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("USR1", @started[0].pid)
    mind_until { @started.size == 2 && @started[1].reached?(:ready) }
    assert_alive @started[0]
    assert_equal :lost, @started[0].cause
    assert_log(/worker \(pid #{@started[0].pid}\) has closed its channel: it is replaced, and has 60 s to end$/)
    pass_time(60)
    mind_until { gone?(@started[0]) }
    assert_log(/worker \(pid #{@started[0].pid}\) did not end within 60 s: killed$/)
  end

  # Without a pause, the child would be started again and again.
  def test_the_second_child_in_a_row_that_closes_its_channel_is_a_failure
    keep(1, pause: 30, grace: 60) { DEAF }
    2.times do |count|
      mind_until { @started.size == count + 1 && @started.last.reached?(:ready) }
      Process.kill("USR1", @started.last.pid)
    end
    mind_until { logged.scan("has closed its channel").size == 2 }
    3.times { @keeper.tick }
    assert_equal 2, @started.size
    pass_time(30)
    mind_until { @started.size == 3 }
  end

  def test_a_loading_child_that_closes_its_channel_is_a_failed_start
    keep(1, pause: 0.01, grace: 60) { @started.empty? ? DEAF_WHILE_LOADING : STEADY }
    mind_until { @started.size == 2 && @started[1].reached?(:ready) }
    assert_alive @started[0]
    pass_time(60)
    mind_until { gone?(@started[0]) }
  end

  # When a process ends, its channel closes a moment before the parent can reap the process.
  def test_a_child_that_has_closed_its_channel_has_half_a_second_to_end
    keep(1) { DEAF }
    mind_until { @keeper.settled?(:ready) }
    now = Bontebok::Clock.now
    Process.kill("USR1", @started[0].pid)
    mind_until { @started[0].deaf? }
    assert_operator @started[0].instance_variable_get(:@lost_at), :>=, now + 0.5
  end

  def test_the_log_does_not_say_that_a_child_that_ends_has_closed_its_channel
    keep(1) { STEADY }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("KILL", @started[0].pid)
    mind_until { @started.size == 2 }
    assert_log(/ended: killed by SIGKILL/)
    refute_match(/has closed its channel/, logged)
  end

  def test_a_leaving_child_that_closes_its_channel_keeps_its_time_limit
    keep(1, grace: 60) { DEAF }
    mind_until { @keeper.settled?(:ready) }
    @keeper.stop(:drain)
    Process.kill("USR1", @started[0].pid)
    mind_until { @started[0].deaf? }
    pass_time(1)
    @keeper.tick
    refute_match(/has closed its channel/, logged)
    pass_time(60)
    mind_until { @keeper.empty? }
  end
end
