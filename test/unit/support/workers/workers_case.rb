# frozen_string_literal: true

require "minitest/mock"
require "bontebok/processes/children"
require_relative "../generations/log_lines"
require_relative "fake_worker"

# Helpers for tests of Children without processes: the processes are fakes, and time passes only if the test says so.
module WorkersCase
  # Stands for StalledWorkers.
  class Stalled
    attr_reader :looks
    attr_accessor :time, :found

    def initialize(time)
      @time = time
      @looks = 0
      @found = {}
    end

    def look
      @looks += 1
      @found
    end
  end

  def run
    lost = Bontebok::Clock.lost
    Bontebok::Clock.instance_variable_set(:@lost, 0) # a fraction would be rounded in each sum
    Bontebok::Clock.stub(:monotonic, -> { now }) { super }
  ensure
    Bontebok::Clock.instance_variable_set(:@lost, lost)
  end

  def setup
    super
    @started = []
    @gone = []
    @lines = LogLines.new
    @log = @lines.lines
  end

  private

  def now = @now ||= 1000.0

  # Creates @workers and lets them start their workers. The block gets the number of a new worker, and may raise what a
  # fork may raise.
  def keep(count, pause: 1, grace: 60, **options)
    options = { pause: pause, grace: grace, log: @lines, ended: ->(child) { @gone << child }, **options }
    @workers = Bontebok::Children.new(count, **options) do |number|
      yield(number) if block_given?
      @started << FakeWorker.new(number, 101 + @started.size)
      @started.last
    end
    @workers.tick
  end

  # As #keep, with workers that are all ready.
  def serve(count, **options)
    keep(count, **options)
    @started.each(&:be_ready)
    @workers.tick
  end

  # The processes say these words.
  def say(*words, by: @started)
    Array(by).each { |process| process.say(*words) }
    @workers.tick
  end

  def be_ready(*processes) = say(:loaded, :ready, by: processes)

  # The process ends; see FakeWorker for the ways.
  def let_end(process, way = :exit, *how)
    process.public_send(way, *how)
    @workers.tick
  end

  def pass_time(seconds)
    @now = now + seconds
    @workers.tick
  end

  def numbers = @started.map(&:number)

  # The Child of the process. Tests ask it for facts that the totals show when it has ended.
  def child_of(process)
    [*@gone, *@workers.instance_variable_get(:@roster)].find { |child| child.pid == process.pid }
  end

  def logged = @log.join("\n")

  def assert_log(line) = assert_includes(@log, line)

  # The process was not told to end.
  def assert_serves(process)
    refute_predicate process, :told_to_end?
    assert_empty process.signals
  end
end
