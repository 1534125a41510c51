# frozen_string_literal: true

require "bontebok/processes/generations"
require "bontebok/processes/rollout"
require_relative "model_master"

# A supervisor with its masters as a model: the real Generations, Succession, Generation, Rollout and Pauses, and masters
# that only say words. GenerationSearch walks through all orders of events.
class GenerationWorld
  # A rule is broken.
  Fault = Class.new(StandardError)

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

    def decide(verdict)
      @deadline = 0
      @verdict = verdict
    end
  end

  # Logs nothing, and tells nobody.
  class Quiet
    def method_missing(*) = nil
    def respond_to_missing?(*) = true
  end

  Links = Struct.new(:worker_links)
  KEPT_SECONDS = 100

  class << self
    # The time of the world that is looked at.
    attr_accessor :now
  end

  # surge: deploy_surge. canary: whether the deploys have one. budget: how often an event may happen.
  def initialize(surge: 0, canary: false, workers: 2, **budget)
    @config = Config.new(surge, workers)
    @canary = canary
    @budget = budget
    @now = GenerationWorld.now = 0
    @number = 0
    @masters = []
    @results = {}
    @served = []
    @generations = Bontebok::Generations.new(self, @config, workers, Quiet.new)
    @rules = @generations.instance_variable_get(:@succession)
    @generations.go
    @generations.tick
  end

  # What may happen next: [[event, index of the master], ...]. Time passes if no master has a step to do, or if one is
  # :late.
  def events
    GenerationWorld.now = @now
    wishes = %i[deploy roll_back stop judge_bad judge_good late].select { |event| can?(event) && possible?(event) }
    steps + @masters.each_index.flat_map { |index| mishaps(@masters[index]).map { |event| [event, index] } } +
      wishes.map { |event| [event] }
  end

  def happen(event, index = nil)
    GenerationWorld.now = @now
    @budget[event] -= 1 if @budget.key?(event)
    kept = @generations.kept
    index ? happen_to(@masters[index], event) : __send__(event)
    tick
    check_kept(kept, event)
    check_masters
    @masters.select!(&:alive?)
    check_workers unless @stopped || @harmed
    check_end if steps.empty? && held_canaries.empty?
  end

  # Worlds with the same fingerprint go on alike: times count from now, and numbers from the last generation.
  def fingerprint
    pauses = @generations.instance_variable_get(:@pauses)
    times = [pauses.over(1), *%i[@kept_until @parked_by].map { |name| @rules.instance_variable_get(name) }]
    [@rules.newest, @rules.former, @rules.kept, *@rules.leaving].map { |generation| generation && print_of(generation) }
      .push(@budget.values, @ordered, @stopped, @harmed, @back, @served.last(2), @rules.instance_variable_get(:@asked),
            pauses.failing?(1), times.map { |time| from_now(time) }).hash
  end

  # --- what Generations calls ---

  def start
    setup = Bontebok::Generation::Setup.new(@number += 1, "1", @config, Links.new(nil))
    fault("a master is started that nobody has asked for") if @generations.whole? && !@ordered
    fault("a master is started while the server stops") if @stopped
    rollout = rollout_of(setup) if @number > 1
    @masters << ModelMaster.new(@number, rollout ? rollout.first : @generations.workers, @generations.whole?)
    Bontebok::Generation.new(setup, @masters.last).tap do |generation|
      generation.rollout = rollout
      generation.told = rollout&.first
      generation.report = Quiet.new if rollout
      note_start(generation)
    end
  end

  def listen(_generation) = true

  def workers_serve?(generation) = generation.process.ready.positive?

  def seconds_to_keep(generation)
    generation.report.nil? || @generations.under_way.size > 1 ? 0 : KEPT_SECONDS
  end

  def take_effect(generation)
    number = generation.setup.number
    fault("generation #{number} serves, but it has failed") if @results[number] == :failed
    fault("generation #{number} serves, but it has lost a worker") if @crashed == number
    fault("generation #{number} takes effect twice") if @served.last == number
    ready = generation.process.ready
    least = @generations.workers - @config.surge
    fault("generation #{number} serves with #{ready} workers") if ready < least && !@harmed
    @results[number] = :serves
    @kept_ends = true
    @served.pop if @replacement == number
    @served.push(number)
    generation.resize(@generations.workers)
  end

  def fail(generation, reason)
    number = generation.setup.number
    fault("generation #{number} is given up, but nobody else serves") if reason.end_with?(" s") && !@generations.any?(:ready)
    fault("the deploy of generation #{number} fails, which serves") if @results[number] == :serves && @back != number
    @results[number] = :failed
  end

  def ended(_generation) = nil

  private

  def print_of(generation)
    number = generation.setup.number
    [number, @results[number], @replacement == number, generation.state, generation.reached?(:ready), generation.told,
     generation.shrunk, generation.on_trial, generation.ordered, generation.report.nil?, from_now(generation.whole_by),
     *judgement(generation.rollout), generation.process.look(@now)]
  end

  def judgement(rollout)
    return unless rollout

    names = %i[@step @former_workers @verdict @crashed @on_trial @held @over]
    canary = rollout.instance_variable_get(:@canary)
    [from_now(rollout.instance_variable_get(:@proved_at)), canary&.deadline, canary&.verdict,
     *names.map { |name| rollout.instance_variable_get(name) }]
  end

  # A time that is over is as good as any other.
  def from_now(time) = time && [time - @now, 0].max

  def fault(text) = raise(Fault, text)

  def can?(event) = @budget.fetch(event, 0).positive?

  def steps
    found = @masters.each_with_index.filter_map { |master, index| [master.next_step, index] if master.next_step }
    found.empty? && time? ? [[:pass_time]] : found
  end

  def time? = @generations.deadline&.>(@now)

  def possible?(event)
    case event
    when :deploy, :stop then !@stopped
    when :late then time?
    when :roll_back then !@stopped && @generations.kept && @generations.under_way.empty? && !@ordered
    else @masters.any?(&:alive?) && !held_canaries.empty?
    end
  end

  def mishaps(master)
    return [] unless master.alive?

    events = %i[die]
    events << :go_deaf unless master.deaf? || master.phase == :deaf || master.phase == :leaving
    events << :fail if %i[loading loaded].include?(master.phase)
    events << :lose_worker if master.phase == :ready && master.ready.positive?
    events.select { |event| can?(event) && !(event == :die && master.phase == :leaving) }
  end

  def happen_to(master, event)
    mishap = %i[die go_deaf fail lose_worker].include?(event) && master.phase != :leaving
    @harmed = true if mishap && master.ready.positive?
    @crashed = master.pid if event == :lose_worker && trial?(master)
    master.public_send(event)
  end

  def trial?(master)
    newest = @rules.newest
    newest&.process.equal?(master) && @rules.on_trial?(newest) && newest.rollout&.instance_variable_get(:@on_trial)
  end

  # As Deploys#deploy.
  def deploy
    @generations.release if @config.surge.positive?
    @generations.under_way.each { |generation| @results[generation.setup.number] ||= :superseded }
    @generations.renew
    @ordered = true
  end

  def roll_back
    @back = @generations.kept.setup.number
    before = @served[-2] || 1
    fault("the rollback goes to #{@back}, but #{before} served before") unless @back == before
    @results[@back] = nil
    @generations.roll_back.report = Quiet.new
  end

  def stop
    @stopped = true
    @generations.stop(:drain)
  end

  def pass_time
    @now = GenerationWorld.now = @generations.deadline
  end

  alias late pass_time

  def judge_bad = decide(:bad)

  def judge_good = decide(:good)

  def decide(verdict) = held_canaries.first.decide(verdict)

  def held_canaries
    @generations.under_way.filter_map { |one| one.rollout&.instance_variable_get(:@canary) }
                .select { |canary| canary.deadline && !canary.verdict }
  end

  def tick
    rounds = 0
    begin
      @generations.tick
      fault("the loop does not come to rest") if (rounds += 1) > 9
    end while @generations.deadline&.<=(@now) || to_reap?
  end

  def to_reap? = @masters.any? { |master| !master.alive? && @generations.pid?(master.pid) }

  def rollout_of(setup)
    workers = @generations.workers
    Bontebok::Rollout.new(setup, present: workers, former: @generations.under_way.any? ? 1 : workers,
                                 former_config: @config, report: Quiet.new, on_trial: @generations.whole?,
                                 canary: (Canary.new if @canary && @ordered))
  end

  # A master that replaces a dead one has the same code, as far as anybody knows.
  def note_start(generation)
    generation.ordered = @ordered
    @replacement = @number unless @ordered || @number == 1
    @ordered = false
  end

  def check_masters
    minded = [*@generations.all, *@generations.kept]
    fault("a generation has two places") unless minded.uniq(&:object_id).size == minded.size
    @masters.each do |master|
      next unless master.alive?

      fault("nobody minds master #{master.pid}") unless minded.any? { |one| one.process.equal?(master) }
    end
    check_newest(@rules.newest) if @rules.newest && !@stopped
  end

  def check_newest(newest)
    trial = @rules.on_trial?(newest)
    fault("a master waits for another generation") if @rules.former.nil? && newest.process.trusts_another?
    fault("generation #{newest.setup.number} may take for ever") if trial && !newest.reached?(:ready) && !newest.whole_by
  end

  # The workers that serve are never fewer than before, unless one has ended by itself. With deploy_surge, a deploy that
  # fails takes its workers along.
  def check_workers
    least = @generations.workers - (@results.values.intersect?(%i[failed superseded]) ? @config.surge : 0)
    fault("#{serving} workers serve") if @served.any? && serving < least
  end

  # The kept generation stays until its time is over, the next one serves, or the server stops.
  def check_kept(former, event)
    over = @now >= @kept_until.to_i || former&.process&.ended? || @kept_ends || @stopped || event == :roll_back || @config.surge.positive?
    fault("the kept generation ends") if former && @generations.kept.nil? && !over
    @kept_until = @now + KEPT_SECONDS if @generations.kept && !@generations.kept.equal?(former)
    @kept_ends = false
  end

  def serving = @masters.sum { |master| master.phase == :ready ? master.ready : 0 }

  # Nothing happens any more.
  def check_end
    return check_stop if @stopped

    serving_one, *others = @generations.all
    fault("nobody serves") unless serving_one
    fault("generation #{serving_one.setup.number} is #{serving_one.state}") unless serving_one.state == :serving
    fault("generation #{others.first.setup.number} is #{others.first.state}, too") if others.any?
    fault("#{serving} workers serve at the end") unless serving == @generations.workers
    check_choice(serving_one.setup.number)
  end

  def check_stop
    fault("a master is left after the stop") if @masters.any?(&:alive?) || !@generations.empty?
  end

  # The last command that has not failed decides.
  def check_choice(number)
    fault("generation #{number} serves, but it has failed") if @results[number] == :failed
    later = @results.select { |other, result| other > number && result != :failed && result != :superseded }
    fault("generation #{number} serves, not #{later.keys}") if later.any? && !@harmed && @back.nil?
  end
end
