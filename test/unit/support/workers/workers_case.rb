# frozen_string_literal: true

require "minitest/mock"
require "bontebok/processes/children"
require_relative "fake_process"

# Helpers for tests of Children without processes: the processes are fakes, and time passes only if the test says so.
module WorkersCase
  # Keeps the lines of the log, as "level text".
  class Lines < Array
    %i[info warn error].each { |level| define_method(level) { |text, cause = nil| write(level, text, cause) } }

    def write(level, text, cause = nil) = push([level, text, *cause&.message].join(" "))
  end

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
    Bontebok::Clock.stub(:monotonic, -> { now }) { super }
  ensure
    Bontebok::Clock.instance_variable_set(:@lost, lost)
  end

  def setup
    super
    @started = []
    @gone = []
    @log = Lines.new
  end

  private

  def now = @now ||= 1000.0

  # Creates @workers and lets them start their workers. The block gets the number of a new worker, and may raise what a
  # fork may raise.
  def keep(count, pause: 1, grace: 60, **options)
    ended = ->(child) { @gone << child }
    @workers = Bontebok::Children.new(count, pause: pause, grace: grace, log: @log, ended: ended, **options) do |number|
      yield(number) if block_given?
      @started << FakeProcess.new(number, 101 + @started.size)
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

  # The process ends; see FakeProcess for the ways.
  def let_end(process, way = :exit, *how)
    process.public_send(way, *how)
    @workers.tick
  end

  def pass_time(seconds)
    @now = now + seconds
    @workers.tick
  end

  def numbers = @started.map(&:number)

  # The Child of the process. What tests ask of it is what the totals show when it has ended.
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
