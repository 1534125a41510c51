# frozen_string_literal: true

require "test_helper"
require_relative "../support/generations_case"

# Tests what a new generation that fails leaves: the former generation serves.
class GenerationsFailuresTest < Support::TestCase
  include GenerationsCase

  # A master that reports its failure when the test sends USR1, and ends when the test sends USR2.
  FAILED = lambda do |channel|
    Signal.trap("USR1") { %i[failed waits].each { |word| channel.say(word) } }
    Signal.trap("USR2") { exit!(1) }
    channel.say(:loaded)
    sleep
  end

  # A master that has closed its channel, as a process does that ends slowly. It ends when the test sends USR2.
  DESERTING = lambda do |channel|
    Signal.trap("USR2") { exit!(3) }
    channel.close
    sleep
  end
  # Serves with some workers, and closes its channel when the test sends USR1.
  DESERTING_LATER = lambda do |channel|
    reader, writer = IO.pipe
    Signal.trap("USR1") { writer.close }
    %i[loaded ready].each { |word| channel.say(word) }
    reader.wait_readable
    DESERTING.call(channel)
  end

  # With the limit, the deploy ends at once; the failed master is not started again.
  def test_a_master_that_fails_ends_the_deploy_and_the_former_one_stays
    begin_with(WHOLE, FAILING)
    mind_until { gone?(@started[1]) && logged.include?("the present master continues") }
    pass_time(LIMIT)
    2.times { @keeper.tick }
    assert_equal 2, @started.size
    assert_alive @started[0]
  end

  def test_a_master_that_closes_its_channel_ends_the_deploy_and_is_not_tried_again
    [DESERTING, DESERTING_LATER].each do |behaviour|
      @started.clear
      begin_with(WHOLE, behaviour, failed: ->(*failure) { @failure = failure })
      desert
      assert_equal [@started[1], "has failed before it was ready"], @failure
      assert_log(/error .*#{@started[1].pid}\) has closed its channel before it was ready: it has 65 s to end$/)
      end_deserted
      pass_time(60)
      2.times { @keeper.tick }
      assert_equal 2, @started.size
      assert_alive @started[0]
    end
  end

  def test_a_master_that_closes_its_channel_is_tried_again_if_nobody_else_serves
    begin_with(WHOLE, LOADING, DESERTING, WHOLE)
    @started.first(2).each { |child| Process.kill("KILL", child.pid) }
    mind_until { @started.first(2).all?(&:ended?) }
    pass_time(60)
    mind_until { @started[2]&.leaving? }
    end_deserted
    pass_time(120)
    mind_until { @started[3]&.reached?(:whole) }
  end

  # As in a rollback: requests and hijacked connections from before the deploy go on.
  def test_a_master_that_reports_its_failure_ends_the_deploy_and_gets_the_time_to_end
    begin_with(WHOLE, FAILED, failed: ->(*failure) { @failure = failure })
    fail_last
    assert_equal [@started[1], "did not get its workers ready"], @failure
    assert_log(/error .* master \(pid #{@started[1].pid}\) did not get its workers ready: it is stopped/)
    Process.kill("USR2", @started[1].pid)
    mind_until { gone?(@started[1]) }
    assert_alive @started[0]
    assert_equal 2, @started.size
  end

  def test_a_master_that_reports_its_failure_is_replaced_before_it_ends_if_nobody_else_serves
    begin_with(WHOLE, FAILED, WHOLE, hijack: 600)
    Process.kill("KILL", @started[0].pid)
    mind_until { @started[0].ended? }
    fail_last
    pass_time(60)
    mind_until { @started[2]&.reached?(:whole) }
    assert_alive @started[1]
    Process.kill("USR2", @started[1].pid)
  end

  # The former master has died, so the superseded one continues.
  def test_a_superseded_master_takes_effect_if_the_next_one_fails
    in_effect = []
    begin_with(WHOLE, PARTIAL, FAILED, whole: ->(child) { in_effect << child })
    Process.kill("KILL", @started[0].pid)
    mind_until { @started[0].ended? && @started[1].reached?(:ready) }
    @keeper.renew
    mind_until { @started[2]&.reached?(:loaded) }
    Process.kill("USR1", @started[1].pid)
    mind_until { @started[1].reached?(:whole) }
    assert_equal @started.first(1), in_effect
    fail_last
    assert_equal @started.first(2), in_effect
    Process.kill("USR2", @started[2].pid)
  end

  # The former master has died. The superseded one becomes ready after the next one was started.
  def test_the_limit_applies_when_the_superseded_master_serves
    begin_with(WHOLE, WAITING, LOADING)
    mind_until { @started[1].reached?(:loaded) }
    Process.kill("KILL", @started[0].pid)
    mind_until { @started[0].ended? }
    @keeper.renew
    mind_until { @started[2] }
    pass_time(LIMIT)
    @keeper.tick
    @keeper.go
    mind_until { @started[1].reached?(:ready) }
    refute_predicate @started[2], :leaving?
    pass_time(LIMIT)
    mind_until { @started[2].ended? }
    assert_alive @started[1]
  end

  # The time limit of the master that has failed must not end the wait for the next master.
  def test_the_next_deploy_after_a_failure_replaces_the_former_master
    begin_with(WHOLE, FAILING, PARTIAL)
    mind_until { gone?(@started[1]) && logged.include?("the present master continues") }
    pass_time(LIMIT / 2)
    @keeper.renew
    mind_until { @started[2]&.reached?(:ready) }
    pass_time(LIMIT / 2)
    @keeper.tick
    Process.kill("USR1", @started[2].pid)
    mind_until { gone?(@started[0]) }
    refute_predicate @started[2], :leaving?
  end

  def test_a_master_whose_listeners_cannot_listen_ends_the_deploy
    begin_with(WHOLE, WHOLE, loaded: ->(child) { child.equal?(@started[0]) })
    mind_until { gone?(@started[1]) }
    assert_log(/error .* master \(pid #{@started[1].pid}\) cannot listen: it is stopped/)
    assert_alive @started[0]
  end

  private

  def desert
    mind_until { @started[1].deaf? || @started[1].reached?(:ready) }
    Process.kill("USR1", @started[1].pid) unless @started[1].deaf?
    mind_until { @started[1].leaving? }
  end

  # The master had time to end: nobody has sent it a signal before.
  def end_deserted
    Process.kill("USR2", @started.last.pid)
    mind_until { @started.last.ended? }
    assert_equal "exit status 3", @started.last.ending
  end

  # The last generation reports that none of its workers became ready.
  def fail_last
    mind_until { @started.last.reached?(:loaded) }
    Process.kill("USR1", @started.last.pid)
    mind_until { @started.last.leaving? && @started.last.waiting? }
  end
end
