# frozen_string_literal: true

require "test_helper"
require "io/wait"
require "minitest/mock"
require "bontebok/log/log"
require "bontebok/processes/children"
require "bontebok/system/loop"
require "bontebok/system/signal_queue"

# Tests Children with real processes. Each process runs a lambda, its behaviour, which gets the process's channel and
# returns the exit status. The other tests of Children have no processes.
class ChildrenForksTest < Support::TestCase
  # Waits until its parent sends a word (a message on the channel) other than :go.
  UNTIL_TOLD = ->(channel) { channel.to_io.wait_readable while (channel.hear - [:go]).empty? }
  # Is ready until its parent sends such a word.
  STEADY = lambda do |channel|
    channel.say(:loaded)
    channel.say(:ready)
    UNTIL_TOLD.call(channel)
    0
  end
  # Is ready only after :go.
  WAITING = lambda do |channel|
    channel.say(:loaded)
    channel.to_io.wait_readable
    return 0 unless channel.hear == [:go]

    channel.say(:ready)
    UNTIL_TOLD.call(channel)
    0
  end
  # Says more words than one read returns, and ends.
  TALKATIVE = lambda do |channel|
    100.times { channel.say(:crashed) }
    channel.say(:loaded)
    channel.say(:ready)
    3
  end
  # Executes another program when its parent says a word.
  EXECUTING = lambda do |channel|
    channel.say(:loaded)
    channel.say(:ready)
    UNTIL_TOLD.call(channel)
    exec("sleep", "60")
  end

  # Runs the test with a clock that #pass_time can advance.
  def run
    clock = Bontebok::Clock.method(:monotonic)
    lost = Bontebok::Clock.lost
    Bontebok::Clock.stub(:monotonic, -> { clock.call + @passed.to_i }) { super }
  ensure
    Bontebok::Clock.instance_variable_set(:@lost, lost)
  end

  def setup
    @former = Signal.trap("CHLD", "DEFAULT")
    @events = Bontebok::SignalQueue.new("CHLD")
    @started = []
    @reader, @writer = IO.pipe
    @logged = +""
  end

  def teardown
    @keeper.stop(:quit)
    mind_until { @keeper.empty? }
    Signal.trap("CHLD", @former)
    [@events, @reader, @writer].each(&:close)
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

  private

  # Creates @keeper. The block gets the number of a new child, and returns the child's behaviour.
  def keep(count, pause: 1, grace: 600, **options)
    log = Bontebok::Log.new(@writer)
    options = { pause: pause, grace: grace, log: log, **options }
    @keeper = Bontebok::Children.new(count, **options) do |number|
      behaviour = yield(number)
      @started << Bontebok::ForkedProcess.fork(to_close: [@events], &behaviour)
      @started.last
    end
  end

  # Runs the loop of a master, until the block returns true.
  def mind_until(&)
    limit = Thread.new { sleep(Support::Deadline::DEFAULT_SECONDS) && @events.push(:limit) }
    turns = Bontebok::Loop.new(@events) { |exception| raise exception }
    turns.at(@keeper)
    turns.watch(@keeper)
    turns.on(:limit) { raise Support::Timeout, "waited in vain" }
    turns.run(&)
  ensure
    limit.kill.join
  end

  def pass_time(seconds)
    @passed = @passed.to_i + seconds
  end

  def gone?(child)
    Support::ProcessTable.entry(child.pid).nil?
  end

  def assert_log(pattern)
    assert_match pattern, logged
  end

  def logged
    @logged << @reader.read_nonblock(65_536)
  rescue IO::WaitReadable
    @logged
  end
end
