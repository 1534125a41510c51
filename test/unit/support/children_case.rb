# frozen_string_literal: true

require "minitest/mock"
require "bontebok/processes/children"
require "bontebok/log/log"
require "bontebok/system/signal_queue"

# Helpers for tests of Children and Generations with real processes. Each process runs a lambda, its behaviour. A
# behaviour gets the child's channel and returns the exit status.
module ChildrenCase
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
  LOADING = ->(_channel) { sleep }
  FAILING = ->(_channel) { 3 }
  # Says more words than one read returns, and ends.
  TALKATIVE = lambda do |channel|
    100.times { channel.say(:crashed) }
    channel.say(:loaded)
    channel.say(:ready)
    3
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
    @keeper&.stop(:quit)
    mind_until("the end") { @keeper.empty? } if @keeper
    Signal.trap("CHLD", @former)
    [@events, @reader, @writer].each(&:close)
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

  # Runs the same loop as the supervisor and the master, until the block returns true.
  def mind_until(what = "the expected state")
    limit = Thread.new { sleep(Support::Deadline::DEFAULT_SECONDS) && @events.push(:limit) }
    until yield
      @keeper.tick
      break if yield

      @keeper.wait(@events)
      raise Support::Timeout, "waited in vain for #{what}" if @events.take.include?(:limit)
    end
  ensure
    limit.kill.join
  end

  def pass_time(seconds)
    @passed = @passed.to_i + seconds
  end

  # Acts as if this process had been frozen for `seconds` while it waited.
  def be_stopped(seconds)
    IO.stub(:select, proc { pass_time(seconds) && nil }) { @keeper.wait(@events) }
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

  def logged
    @logged << @reader.read_nonblock(65_536)
  rescue IO::WaitReadable
    @logged
  end
end
