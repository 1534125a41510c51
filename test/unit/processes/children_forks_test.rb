# frozen_string_literal: true

require "test_helper"
require_relative "../support/children_case"

# Tests Children with real processes. For the rules, the other tests of Children have fakes.
class ChildrenForksTest < Support::TestCase
  include ChildrenCase

  # Executes another program when its parent says a word.
  EXECUTING = lambda do |channel|
    channel.say(:loaded)
    channel.say(:ready)
    UNTIL_TOLD.call(channel)
    exec("sleep", "60")
  end

  def test_a_life_from_the_start_to_the_stop
    keep(2) { WAITING }
    mind_until { @keeper.settled?(:loaded) }
    @keeper.go
    mind_until { @keeper.whole? }
    Process.kill("KILL", @started[0].pid)
    mind_until { @started.size == 3 && @keeper.whole? }
    @keeper.renew_slowly
    mind_until { @started.size == 5 && @keeper.whole? && logged.scan("has left: exit status 0").size == 2 }
    @keeper.stop(:drain)
    mind_until { @keeper.empty? }
    assert_equal 4, logged.scan("has left: exit status 0").size
    assert_equal 1, logged.scan("ended: killed by SIGKILL").size
  end

  def test_a_worker_that_other_code_reaps_is_replaced
    keep(1) { STEADY }
    mind_until { @keeper.whole? }
    Process.kill("KILL", @started[0].pid)
    Process.wait(@started[0].pid)
    mind_until { @started.size == 2 && @keeper.whole? }
    assert_log(/ended: unknown status/)
  end

  def test_a_worker_that_executes_another_program_is_replaced
    keep(1, grace: 1) { @started.empty? ? EXECUTING : STEADY }
    mind_until { @keeper.whole? }
    @keeper.tell(:reopen)
    mind_until { @started.size == 2 }
    pass_time(1)
    mind_until { gone?(@started[0]) && @keeper.whole? }
    assert_log(/has closed its channel: it is replaced.*did not end within 1 s: killed/m)
  end

  def test_the_last_words_of_a_worker_are_read
    keep(1) { @started.empty? ? TALKATIVE : STEADY }
    @keeper.tick
    eventually { gone?(@started[0]) }
    mind_until { @started.size == 2 && @keeper.whole? }
    assert_log(/worker \(pid #{@started[0].pid}\) ended: exit status 3, \d+\.\d s after it was ready$/)
  end

  def test_a_fork_that_is_refused_is_tried_again
    keep(1, pause: 0.01) { @started.empty? && (@attempts = @attempts.to_i + 1) < 3 ? raise(Errno::EAGAIN) : STEADY }
    mind_until { @keeper.whole? }
    assert_equal 2, logged.scan("cannot be started: the system refuses another process").size
  end
end
