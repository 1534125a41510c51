# frozen_string_literal: true

require "minitest/mock"
require "bontebok/processes/children"
require_relative "fake_worker"
require_relative "workers_case"
require_relative "model"

# A walk of Children through random events: workers say words and end, time passes, and the master gets orders. After
# each event WorkersModel checks what Children has done. At the end, all workers become ready and stay.
class WorkersWalk
  SIZE = 2
  # The events of a worker, and others. A walk has only some of these events, so that a few of them happen often.
  WORKER = %i[advance last leave hung stuck emptied waits close exit die vanish stall].freeze
  OTHERS = %i[renew renew_slowly more fewer reopen stop kill resume go refuse fail together].freeze
  SECONDS = [0.1, 0.5, 1, 2, 10, 30, 60].freeze
  TURNS = 40

  # Returns the first fault of the walks with these seeds, or nil.
  def self.fault(seeds)
    seeds.each do |seed|
      walk = new(seed)
      fault = walk.run or next
      return "#{fault}\nseed #{seed}: #{walk.events.join(', ')}"
    end
    nil
  end

  attr_reader :events

  def initialize(seed)
    @random = Random.new(seed)
    @now = 1000.0
    @log = LogLines.new
    @model = WorkersModel.new(SIZE)
    @attempts = []
    @events = []
    @next_forks = []
    @stalled = WorkersCase::Stalled.new(@now)
    @pid = 100
    @of_workers = some(WORKER, :rise)
    @others = some(OTHERS, :pass)
  end

  # Returns a fault, or nil.
  def run
    Bontebok::Clock.stub(:now, -> { @now }) do
      begin_workers
      TURNS.times { happen }
      settle
    end
    nil
  rescue WorkersModel::Fault => e
    e.message
  end

  private

  # Returns some of the events. The frequent one is as frequent as half of them.
  def some(events, frequent)
    events = events.sample(@random.rand(2..6), random: @random)
    events + ([frequent] * (events.size / 2))
  end

  def begin_workers
    times = { pause: WorkersModelPauses::PAUSE, grace: SeenWorker::GRACE, boot: SeenWorker::BOOT,
              hijack: SeenWorker::HIJACK }
    @workers = Bontebok::Children.new(SIZE, **times, log: @log, stalled: @stalled) { |number| start(number) }
    @workers.together = @model.together = @random.rand < 0.3
    turn
    command(:go)
  end

  def start(number)
    failure = @next_forks.shift
    process = FakeWorker.new(number, @pid += 1)
    process.busy = @random.rand < 0.5
    @attempts << [number, failure || process]
    raise Errno::EAGAIN if failure == :refused
    raise Bontebok::Hooks::Failed, "x" if failure == :failed

    process
  end

  # One turn of the master's loop.
  def turn(order = nil)
    @workers.tick
    @model.check(@now, order, @attempts, @log.lines, @stalled.found.keys)
    [@attempts, @log.lines].each(&:clear)
    @stalled.found = {}
    check_answers
  end

  def check_answers
    { hopeless: [@workers.hopeless, @model.hopeless], whole: [@workers.whole?, @model.whole?],
      waiting: [@workers.waiting?, @model.waiting?],
      settled: [@workers.settled?(:ready), @model.settled?], size: [@workers.size, @model.size] }
      .each { |name, (is, must)| @model.expect(is == must) { "#{name}: #{is.inspect}" } }
  end

  def happen
    worker = @model.alive.reject { |one| one.process.over? }.sample(random: @random)
    if worker && @random.rand < 0.7
      event = @of_workers.sample(random: @random)
      @events << "#{worker.pid} #{event}"
      act(worker, event)
    else
      @events << @others.sample(random: @random)
      command(@events.last)
    end
  end

  def act(worker, event)
    case worker.killed && event != :stall ? :die : event
    when :advance then worker.advance
    when :rise then 3.times { turn if worker.advance }
    when :last then say_last_word(worker)
    when :leave, :hung, :stuck, :waits then worker.say(event) if worker.ready?
    when :emptied then worker.say(event) if worker.hung
    when :close then worker.close(@now)
    when :exit then worker.end_by(:exit, [0, 3].sample(random: @random))
    when :die then worker.end_by(:die, "KILL")
    when :vanish then worker.end_by(:vanish)
    when :stall then @stalled.found = { worker.pid => "does not move" } if worker.ready?
    end
    turn
  end

  # The worker gets ready, and ends before its parent hears of it.
  def say_last_word(worker)
    2.times { turn if !worker.said?(:prepared) && worker.advance }
    worker.end_by(:exit, 3) if worker.advance
  end

  def command(event)
    order = event == :stop ? SeenWorker::TOLD.sample(random: @random) : event
    case event
    when :pass then @now += SECONDS.sample(random: @random)
    when :refuse then @next_forks << :refused
    when :fail then @next_forks << :failed
    when :together then @workers.together = @model.together = false
    else give(order)
    end
    turn(order)
  end

  def give(order)
    return if order == :more && @workers.size > 3

    @model.order(order)
    case order
    when :reopen then @workers.tell(:reopen)
    when *SeenWorker::TOLD then @workers.stop(order)
    else @workers.public_send(order)
    end
  end

  # All workers do as they are told, and the others become ready.
  def settle
    @next_forks.clear
    %i[together resume go].each { |event| command(event) }
    60.times { settled? ? break : settle_once }
    settle_once
    @model.expect(settled?) { "the workers do not settle" }
  end

  def settled?
    @workers.whole? && @model.alive.size == @workers.size &&
      @model.alive.all? { |one| one.staying? && !one.asked && !one.lost_at && !one.killed }
  end

  def settle_once
    @model.alive.reject { |worker| worker.process.over? }.each do |worker|
      worker.told || worker.killed || worker.lost_at ? worker.end_by(:exit) : worker.advance
    end
    @now += 31
    turn
  end
end
