# frozen_string_literal: true

require_relative "checks"
require_relative "model_server"
require_relative "world_look"

# A supervisor with its masters as a model: the real Generations, Succession, Generation, Rollout and Pauses, and
# masters that only say words. GenerationSearch walks through all orders of events.
class GenerationWorld
  COMMANDS = %i[deploy roll_back stop judge_bad judge_good late more fewer].freeze
  MISHAPS = %i[die go_deaf fail lose_worker].freeze
  # The loop comes to rest within this number of turns.
  TURNS = 9

  class << self
    # The time of the world that is looked at.
    attr_accessor :now
  end

  # surge: deploy_surge. canary: whether the deploys have one. budget: how often an event may happen.
  def initialize(surge: 0, canary: false, workers: 2, **budget)
    @budget = budget
    @now = GenerationWorld.now = 0
    config = ModelServer::Config.new(surge, workers)
    @server = ModelServer.new(config, canary)
    @generations = @server.generations = Bontebok::Generations.new(@server, config, workers, ModelServer::Quiet.new)
    @rules = @generations.instance_variable_get(:@succession)
    @history = @server.history
    @checks = GenerationChecks.new(@server, @rules)
    @generations.go
    @generations.tick
  end

  # What may happen next: [[event, index of the master], ...].
  def events
    GenerationWorld.now = @now
    mishaps = masters.each_index.flat_map { |index| mishaps_of(masters[index]).map { |event| [event, index] } }
    commands = COMMANDS.select { |event| can?(event) && possible?(event) }
    steps + mishaps + commands.map { |event| [event] }
  end

  # Raises ModelServer::Fault.
  def happen(event, index = nil)
    GenerationWorld.now = @now
    @budget[event] -= 1 if @budget.key?(event)
    kept = @generations.kept
    index ? happen_to(masters[index], event) : __send__(event)
    tick
    @checks.after(event, @now, kept)
    masters.select!(&:alive?)
    @checks.workers
    @checks.at_rest if steps.empty? && @server.canaries.empty?
  end

  # Worlds with the same fingerprint go on alike.
  def fingerprint = [WorldLook.new(@generations, @rules, @history, @now).values, @budget.values].hash

  private

  def masters = @server.masters

  def can?(event) = @budget.fetch(event, 0).positive?

  # Time passes if no master has a step to do.
  def steps
    found = masters.each_with_index.filter_map { |master, index| [master.next_step, index] if master.next_step }
    found.empty? && time? ? [[:pass_time]] : found
  end

  def time? = @generations.deadline&.>(@now)

  def possible?(event)
    case event
    when :deploy, :stop, :more then !@history.stopped
    when :fewer then !@history.stopped && @generations.workers > 1
    when :late then time?
    when :roll_back then !@history.stopped && @generations.kept
    else masters.any?(&:alive?) && @server.canaries.any?
    end
  end

  # The numbers of the generations that are under way.
  def under_way = @generations.under_way.map { |generation| generation.setup.number }

  def mishaps_of(master)
    possible = case master.phase
               when :ended, :leaving then []
               when :loading, :loaded then %i[die go_deaf fail]
               when :ready then [:die, :go_deaf, :ask, *(:lose_worker if master.ready.positive?)]
               when :parked then %i[die go_deaf]
               when :deaf then [:die]
               end
    possible -= [:go_deaf] if master.deaf?
    possible.select { |event| can?(event) }
  end

  def happen_to(master, event)
    @history.harmed = true if MISHAPS.include?(event) && master.ready.positive? && master.phase != :leaving
    @history.crashed = master.pid if event == :lose_worker && trial?(master)
    @history.asked = master.pid if event == :ask && @rules.newest&.process.equal?(master)
    master.public_send(event)
  end

  def trial?(master)
    newest = @rules.newest
    newest&.process.equal?(master) && @rules.on_trial?(newest) && newest.rollout&.instance_variable_get(:@on_trial)
  end

  # --- events that are no master's ---

  # As Deploys#deploy.
  def deploy
    @generations.release if @server.config.surge.positive?
    @history.supersede(under_way)
    @history.ordered = true
    @generations.renew
  end

  def roll_back
    number = @generations.kept.setup.number
    before = @history.former
    @server.fault("the rollback goes to #{number}, but #{before} served before") unless number == before
    @history.supersede(under_way)
    @history.go_back(number)
    @history.asked = @history.ordered = nil
    @generations.roll_back.report = ModelServer::Quiet.new
  end

  def stop
    @history.stopped = true
    @generations.stop(:drain)
  end

  # A step takes so long that the next time limit is over.
  def late
    @now = GenerationWorld.now = @generations.deadline
  end
  alias pass_time late

  def more = change(:more)

  def fewer = change(:fewer)

  # Not all workers serve for a moment.
  def change(word)
    @history.harmed = true
    @generations.change_workers(word)
  end

  def judge_bad = @server.canaries.first.decide(:bad)

  def judge_good = @server.canaries.first.decide(:good)

  def tick
    TURNS.times do
      @generations.tick
      return unless @generations.deadline&.<=(@now) || to_reap?
    end
    @server.fault("the loop does not come to rest")
  end

  def to_reap? = masters.any? { |master| !master.alive? && @generations.pid?(master.pid) }
end
