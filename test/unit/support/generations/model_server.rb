# frozen_string_literal: true

require "bontebok/processes/generations"
require "bontebok/processes/generations/rollout"
require_relative "history"
require_relative "model_master"

# The server of a GenerationWorld: what Generations calls, in place of Deploys. Each call checks a rule.
class ModelServer
  # A rule is broken.
  class Fault < StandardError; end

  # The options that the rules read.
  Config = Struct.new(:surge, :workers) do
    def [](key) = { deploy_surge: surge }.fetch(key)
    def seconds(key) = key == :err_respawn_interval ? 1 : 5
    def boot_seconds = 10
    def auto_workers? = false
  end

  # The search decides the verdict.
  class Canary
    attr_reader :deadline, :verdict

    def count = 1
    def begin(*) = @deadline = Float::INFINITY
    def table = nil
    def held? = !@deadline.nil? && @verdict.nil?

    def decide(verdict)
      @deadline = 0
      @verdict = verdict
    end
  end

  # A log or a report: nobody reads it.
  class Quiet
    def method_missing(*) = nil
    def respond_to_missing?(*) = true
  end

  Links = Struct.new(:worker_links)
  KEPT_SECONDS = 100

  attr_reader :config, :history, :masters
  attr_accessor :generations
  # True if the kept generation may end: the next one has taken effect.
  attr_accessor :kept_ends

  # canary: whether the deploys have one.
  def initialize(config, canary)
    @config = config
    @canary = canary
    @history = GenerationHistory.new
    @masters = []
    @number = 0
  end

  def start
    wanted = @history.ordered || generations.pids.include?(@history.asked)
    fault("a master is started that nobody has asked for") if generations.whole? && !wanted
    fault("a master is started while the server stops") if @history.stopped
    setup = Bontebok::Generation::Setup.new(@number += 1, "1", @config, Links.new(nil))
    @number == 1 ? forked(setup) : executed(setup)
  end

  # The listeners always listen.
  def listen(generation) = generation.setup

  def workers_serve?(generation) = generation.process.ready.positive?

  def seconds_to_keep(generation)
    generation.report.nil? || generations.under_way.size > 1 ? 0 : KEPT_SECONDS
  end

  def take_effect(generation)
    number = generation.setup.number
    check_effect(number, generation.process.ready)
    @history.serve(number)
    @kept_ends = true
    generation.resize(generations.workers)
  end

  def fail(generation, reason)
    number = generation.setup.number
    alone = reason.end_with?(" s") && generations.all.none? { |one| one.reached?(:ready) && !one.leaving? }
    fault("generation #{number} is given up, but nobody else serves") if alone
    serves = @history.results[number] == :serves && @history.back != number
    fault("the deploy of generation #{number} fails, which serves") if serves
    @history.fail(number)
  end

  def ended(_generation) = nil

  # Those that the search may decide.
  def canaries = generations.under_way.filter_map { |one| one.rollout&.instance_variable_get(:@canary) }.select(&:held?)

  def fault(text) = raise(Fault, text)

  private

  def forked(setup)
    @history.start(setup.number)
    @masters << ModelMaster.new(setup.number, generations.workers, false)
    Bontebok::Generation.new(setup, @masters.last)
  end

  def executed(setup)
    rollout = rollout_of(setup)
    @masters << ModelMaster.new(setup.number, rollout.first, generations.whole?)
    generation = Bontebok::Generation.new(setup, @masters.last)
    generation.rollout = rollout
    generation.told = rollout.first
    generation.report = Quiet.new
    generation.ordered = @history.ordered
    @history.start(setup.number)
    generation
  end

  def rollout_of(setup)
    workers = generations.workers
    Bontebok::Rollout.new(setup, present: workers, former: generations.under_way.any? ? 1 : workers,
                                 former_config: @config, report: Quiet.new, on_trial: generations.whole?,
                                 canary: (Canary.new if @canary && @history.ordered))
  end

  def check_effect(number, ready)
    fault("generation #{number} serves, but it has failed") if @history.results[number] == :failed
    fault("generation #{number} serves, but it has lost a worker") if @history.crashed == number
    fault("generation #{number} takes effect twice") if @history.served.last == number
    few = ready < generations.workers - @config.surge && !@history.harmed
    fault("generation #{number} serves with #{ready} workers") if few
  end
end
