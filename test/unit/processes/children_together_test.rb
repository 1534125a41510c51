# frozen_string_literal: true

require "test_helper"
require_relative "../support/children_case"

# Tests workers of a new generation, which serve together, and those whose number fails twice.
class ChildrenTogetherTest < Support::TestCase
  include ChildrenCase

  # Is ready when its parent says :serve.
  PREPARED = lambda do |channel|
    channel.say(:loaded)
    wait_for = ->(word) { channel.to_io.wait_readable until channel.hear.intersect?([word, :quit]) }
    wait_for.call(:go)
    channel.say(:prepared)
    wait_for.call(:serve)
    channel.say(:ready)
    wait_for.call(:retire)
    0
  end
  # Is prepared when the test sends USR1.
  LATE = lambda do |channel|
    reader, writer = IO.pipe
    Signal.trap("USR1") { writer.close }
    channel.say(:loaded)
    reader.wait_readable
    PREPARED.call(channel)
  end

  def test_no_child_serves_before_all_are_prepared
    begin_together(PREPARED, LATE)
    refute(@started.any? { |child| child.reached?(:ready) })
    Process.kill("USR1", @started[1].pid)
    mind_until { @keeper.whole? }
  end

  # When no other generation serves.
  def test_each_child_serves_when_it_is_prepared_if_they_serve_together_no_longer
    begin_together(PREPARED, LATE)
    @keeper.together = false
    mind_until { @started[0].reached?(:ready) }
    refute @started[1].reached?(:prepared)
  end

  def test_a_prepared_child_has_no_deadline_until_it_is_told_to_serve
    begin_together(PREPARED, LATE, boot: 60)
    pass_time(59)
    Process.kill("USR1", @started[1].pid)
    mind_until { @started[1].reached?(:prepared) }
    pass_time(59)
    mind_until { @keeper.whole? }
    refute_match(/killed/, logged)
  end

  def test_a_child_that_is_added_serves_when_it_is_prepared
    begin_together(PREPARED, PREPARED, PREPARED)
    mind_until { @keeper.whole? }
    @keeper.more
    mind_until { @started.size == 3 && @keeper.whole? }
    refute_match(/ended|killed/, logged)
  end

  def test_a_number_whose_children_fail_twice_in_a_row_is_hopeless
    keep(2) { |number| number == 1 || @started.size == 2 ? STEADY : FAILING }
    mind_until { @keeper.settled?(:ready) }
    assert_nil @keeper.hopeless
    pass_time(1)
    mind_until { @started.size == 3 && @keeper.whole? }
    assert_nil @keeper.hopeless # the second one was ready
    Process.kill("KILL", @started[2].pid)
    mind_until { @started.size == 4 && gone?(@started[3]) && logged.scan("before it was ready").size == 2 }
    assert_nil @keeper.hopeless
    pass_time(1)
    mind_until { @keeper.hopeless }
    assert_equal 2, @keeper.hopeless
  end

  def test_a_child_that_a_user_kills_has_not_failed
    keep(1) { LOADING }
    { "KILL" => 1, "TERM" => 2 }.each do |signal, count|
      mind_until { @started.size == count }
      Process.kill(signal, @started.last.pid)
      mind_until { logged.scan("before it was ready: killed by").size == count }
      pass_time(2)
    end
    assert_nil @keeper.hopeless
  end

  # The second attempt fails at once as well.
  def test_a_hook_that_fails_is_a_failure_and_a_rejected_fork_is_none
    [Errno::EAGAIN.new, Errno::EMFILE.new, Bontebok::Hooks::Failed.new("x")].each do |error|
      attempts = 0
      keep(1) { (attempts += 1) > 2 ? STEADY : raise(error) }
      2.times { @keeper.tick.tap { pass_time(2) } }
      assert_equal [2, error.is_a?(Bontebok::Hooks::Failed)], [attempts, !@keeper.hopeless.nil?]
    end
  end

  private

  def begin_together(*behaviours, **options)
    keep(2, **options) { behaviours.fetch(@started.size) }
    @keeper.together = true
    @keeper.go
    mind_until { @started.size == 2 && @started[0].reached?(:prepared) && @started[1].reached?(:loaded) }
  end
end
