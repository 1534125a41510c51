# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "bontebok/children"
require "bontebok/log"
require "bontebok/signal_queue"

# The rules of replacement, with children that behave as the test wants: a behaviour is given the child's channel and
# returns the exit status.
class ChildrenTest < Support::TestCase
  # Serves until it is told to end.
  STEADY = lambda do |channel|
    channel.say(:loaded)
    channel.say(:ready)
    channel.to_io.wait_readable
    0
  end
  # Does not serve before it is told to.
  WAITING = lambda do |channel|
    channel.say(:loaded)
    channel.to_io.wait_readable
    return 0 unless channel.hear == [:go]

    channel.say(:ready)
    channel.to_io.wait_readable
    0
  end
  FAILING = ->(_channel) { 3 }
  BRIEF = lambda do |channel|
    channel.say(:loaded)
    channel.say(:ready)
    3
  end
  STUBBORN = lambda do |channel|
    channel.say(:loaded)
    channel.say(:ready)
    sleep
  end
  # Asks to leave once the test says so by a signal.
  LEAVING = lambda do |channel|
    Signal.trap("USR1") { channel.say(:leave) }
    STEADY.call(channel)
  end

  def setup
    @former = Signal.trap("CHLD", "DEFAULT")
    @events = Bontebok::SignalQueue.new("CHLD")
    @started = []
    @times = []
    @reader, @writer = IO.pipe
    @logged = +""
  end

  def teardown
    @keeper&.quit
    mind_until("the end") { @keeper.empty? } if @keeper
    Signal.trap("CHLD", @former)
    [@reader, @writer].each(&:close)
  end

  def test_it_starts_as_many_as_wanted_and_tells_how_far_they_are
    keep(3) { STEADY }
    mind_until { @keeper.settled?(:ready) && @keeper.any?(:ready) }
    assert_equal [1, 2, 3], @started.map(&:number)
  end

  def test_those_who_wait_are_told_to_go_also_when_they_come_later
    keep(2) { WAITING }
    mind_until { @keeper.settled?(:loaded) }
    refute @keeper.any?(:ready)
    @keeper.go
    mind_until { @keeper.settled?(:ready) }
    Process.kill("KILL", @started.first.pid)
    mind_until { @started.size == 3 && @keeper.settled?(:ready) }
  end

  def test_one_that_was_ready_is_replaced_at_once
    keep(2, pause: 60) { STEADY }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("KILL", @started[1].pid)
    mind_until { @started.size == 3 }
    assert_equal 2, @started.last.number
    assert_log(/worker 2 \(pid #{@started[1].pid}\) ended: killed by SIGKILL/)
  end

  # The first time it is replaced at once, then it pauses, longer each time; a life that is long enough ends that.
  def test_one_that_was_ready_and_ends_at_once_again_and_again_pauses
    keep(1, pause: 0.04) { BRIEF }
    mind_until { @started.size == 5 }
    pauses = @times.each_cons(2).map { |before, after| after - before }
    assert_operator pauses[0], :<, 0.04
    [0.04, 0.08, 0.16].zip(pauses.drop(1)) { |least, pause| assert_operator pause, :>=, least }
  end

  def test_a_life_that_is_long_enough_ends_the_pauses
    keep(1, pause: 0.04) { @started.size == 2 ? STEADY : BRIEF }
    mind_until { @started.size == 3 && @keeper.settled?(:ready) && @keeper.any?(:ready) }
    assert_nil @started[2].channel.to_io.wait_readable(0.05)
    Process.kill("KILL", @started[2].pid)
    ended = Bontebok::Child.now
    mind_until { @started.size == 4 }
    assert_operator @times[3] - ended, :<, 0.04
  end

  def test_one_that_was_not_pauses_longer_each_time
    keep(1, pause: 0.04) { FAILING }
    mind_until { @started.size == 4 }
    pauses = @times.each_cons(2).map { |before, after| after - before }
    assert_operator pauses[0], :>=, 0.04
    assert_operator pauses[1], :>=, 0.08
    assert_operator pauses[2], :>=, 0.16
    assert_log(/worker \(pid \d+\) ended before it was ready: exit status 3/)
  end

  def test_one_that_cannot_be_forked_is_tried_again
    keep(1, pause: 0.01) { (@attempts = @attempts.to_i + 1) < 3 ? raise(Errno::EAGAIN) : STEADY }
    mind_until { @keeper.settled?(:ready) && @keeper.any?(:ready) }
    assert_equal 3, @attempts
    assert_log(/worker 1 cannot be started: Resource temporarily unavailable \(Errno::EAGAIN\)/)
  end

  def test_a_fork_that_fails_leaves_nothing_behind
    before = [Bontebok::Channel.all.size, Support::ProcessTable.descriptors(Process.pid).size]
    Process.stub(:fork, -> { raise Errno::EAGAIN }) do
      assert_raises(Errno::EAGAIN) { Bontebok::Child.fork(1) { 0 } }
    end
    assert_equal before, [Bontebok::Channel.all.size, Support::ProcessTable.descriptors(Process.pid).size]
  end

  def test_a_failure_counts_as_settled_and_as_nothing_else
    keep(2, pause: 60) { |number| number == 1 ? FAILING : STEADY }
    mind_until { @keeper.settled?(:ready) }
    assert @keeper.any?(:ready)
    assert_equal 2, @started.size
  end

  def test_nobody_pauses_for_anothers_failure
    keep(2, pause: 60) { |number| number == 1 ? FAILING : STEADY }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("KILL", @started.find { |child| child.number == 2 }.pid)
    mind_until { @started.size == 3 }
  end

  def test_who_asks_to_leave_serves_until_the_replacement_is_ready
    keep(1) { @started.empty? ? LEAVING : WAITING }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("USR1", @started[0].pid)
    mind_until { @started.size == 2 }
    assert_alive @started[0]
    @keeper.go
    mind_until { gone?(@started[0]) }
    assert_alive @started[1]
    mind_until { @events.push("CHLD") && logged.include?("has left") }
    assert_log(/worker \(pid (\d+)\) leaves when its replacement is ready$.*worker \(pid \1\) has left: exit status 0/m)
  end

  def test_a_replacement_that_fails_is_tried_again_and_the_old_one_stays
    keep(1, pause: 0.01) { @started.empty? ? LEAVING : FAILING }
    mind_until { @keeper.settled?(:ready) }
    Process.kill("USR1", @started[0].pid)
    mind_until { @started.size == 4 }
    assert_alive @started[0]
  end

  def test_who_does_not_finish_is_killed_and_named
    keep(1, patience: 0.05) { STUBBORN }
    mind_until { @keeper.settled?(:ready) }
    @keeper.drain
    mind_until { @keeper.empty? }
    assert_log(/error \d+ worker \(pid #{@started[0].pid}\) did not end within 0.05 s: killed/)
    assert_equal 1, @started.size
  end

  # The kernel may take its time for the end of one that is killed.
  def test_who_was_killed_is_not_killed_again
    keep(1, patience: 0.01) { STUBBORN }
    mind_until { @keeper.settled?(:ready) }
    @started[0].stub(:check, nil) do
      @keeper.drain
      mind_until { logged.include?("killed") }
      @keeper.quit
    end
    assert_equal Float::INFINITY, @started[0].deadline
  end

  def test_who_is_still_loading_has_nothing_to_finish
    keep(1, patience: 60) { ->(_channel) { sleep } }
    mind_until { @started.size == 1 }
    @keeper.drain
    mind_until { @keeper.empty? }
  end

  def test_no_child_keeps_anothers_channel
    keep(2) { STEADY }
    mind_until { @keeper.settled?(:ready) }
    assert_equal(*@started.map { |child| Support::ProcessTable.descriptors(child.pid).size })
  end

  private

  # The block tells the behaviour of the child that is started next.
  def keep(count, pause: 1, patience: 5)
    log = Bontebok::Log.new(@writer)
    @keeper = Bontebok::Children.new("worker", count, pause: pause, patience: patience, log: log) do |number|
      behaviour = yield(number)
      @times << Bontebok::Child.now
      @started << Bontebok::Child.fork(number, to_close: [@events], &behaviour)
      @started.last
    end
  end

  # What the loops of the supervisor and the master do.
  def mind_until(what = "the expected state")
    deadline = Support::Deadline.new
    until yield
      raise Support::Timeout, "waited in vain for #{what}" if deadline.passed?

      @keeper.mind
      break if yield

      @keeper.wait(@events)
      @events.take
    end
  end

  def assert_alive(child)
    assert Support::ProcessTable.entry(child.pid), "#{child.pid} has gone"
  end

  def gone?(child)
    Support::ProcessTable.entry(child.pid).nil?
  end

  def assert_log(pattern)
    assert_match pattern, logged
  end

  # Everything so far.
  def logged
    @logged << @reader.read_nonblock(65_536)
  rescue IO::WaitReadable
    @logged
  end
end
