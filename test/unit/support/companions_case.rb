# frozen_string_literal: true

require "minitest/mock"
require "bontebok/log/log"
require "bontebok/processes/companion"

# For tests of the processes that a master keeps beside its workers. Each is a fake, which waits.
module CompanionsCase
  # Stands for Companion::Jobs. groups: those that were started.
  Work = Struct.new(:seconds, :groups, :behaviour) do
    def fault = nil

    def start(_)
      groups << Bontebok::Companion::ProcessGroup.fork("bontebok jobs", seconds: 1) { behaviour.call }
      groups.last
    end
  end
  SECONDS = 5
  PAUSE = 8
  QUIET = -> { sleep }
  # Ends when it gets TERM.
  OBEYING = lambda do
    Signal.trap("TERM") { exit!(0) }
    sleep
  end
  # Does not obey. say: where it writes its pid when it ignores the signals.
  STUBBORN = lambda do |say = nil|
    %w[TERM QUIT].each { |signal| Signal.trap(signal) { nil } }
    say&.write("#{Process.pid}\n")
    loop { sleep }
  end
  # Forks a process that does not obey.
  FORKING = lambda do |say|
    fork { STUBBORN.call(say) }
    OBEYING.call
  end

  # Runs the test with a clock that #pass_time can advance.
  def run
    clock = Bontebok::Clock.method(:monotonic)
    Bontebok::Clock.stub(:monotonic, -> { clock.call + @passed.to_i }) { super }
  end

  def setup
    @reader, @writer = IO.pipe
    @groups = []
    @said, @say = IO.pipe
  end

  def teardown
    @groups.each { |group| group.signal("KILL") }
    mind_until { @companion.empty? || (@companion.kill && false) } if @companion
    [@reader, @writer, @said, @say].each(&:close)
  end

  private

  # ready: the behaviour says when it begins.
  def keep(behaviour, ready: false)
    @ready = ready
    work = Work.new(SECONDS, @groups, lambda do
      Thread.new { sleep(0.05) && @say.write("\n") } if ready
      behaviour.call
    end)
    @companion = Bontebok::Companion.new("jobs", work, pause: PAUSE, log: Bontebok::Log.new(@writer))
  end

  def begin_to_run(answer: @ready)
    @companion.serve
    mind_until { @groups.size == 1 }
    @said.gets if answer
  end

  def mind_until
    eventually do
      @companion.tick
      yield
    end
  end

  def pass_time(seconds)
    @passed = @passed.to_i + seconds
  end

  def assert_logged(pattern)
    loop { (@logged ||= +"") << @reader.read_nonblock(65_536) }
  rescue IO::WaitReadable
    assert_match pattern, @logged
  end
end
