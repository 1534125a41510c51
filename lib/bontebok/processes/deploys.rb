# frozen_string_literal: true

require_relative "../start_error"
require_relative "../system/exit_fence"
require_relative "../system/proc/stat_line"
require_relative "../version"
require_relative "generations/deploy_report"
require_relative "forked_process"
require_relative "generations"
require_relative "master"
require_relative "generations/rollout"
require_relative "generations/start_of_master"

module Bontebok
  # Starts the masters, deploys new code and rolls it back. The supervisor forks the first master. Each later master is
  # executed (see StartOfMaster). Under rackup, this process has loaded the application, so every master is forked.
  # Generations tells this object each event.
  class Deploys
    REPLACED = "another deploy has replaced this one"
    ROLLED_BACK = "a rollback has replaced this one"

    # The Setup that serves, and the number of the last generation.
    attr_reader :serving, :number
    attr_accessor :generations

    # serving: the Setup. number: of the last generation. release, life_line: see Master. adopted: the AdoptedWorkers.
    # descriptors: returns what a forked master must close. The block is called with a Generation that has taken effect.
    def initialize(serving, number, adopted, control:, stop:, log:, release:, life_line:, descriptors:, &effect)
      @serving = serving
      @number = number
      @adopted = adopted
      @control = control
      @stop = stop
      @log = log
      @release = release
      @life_line = life_line
      @descriptors = descriptors
      @effect = effect
    end

    # True if rackup has loaded the application: nothing is deployed.
    def loaded? = !@release.nil?

    # True if the workers of the master that serves can be on a scoreboard of their own (see Successor).
    def separate?
      serving.version != VERSION ||
        (serving.number > 1 && !loaded? && serving.listeners.worker_links.descriptors.empty?)
    end

    # --- commands ---

    # The last deploy counts. clients: those that wait for the end.
    def deploy(clients: [], canary: nil)
      generations.release if serving.config[:deploy_surge].positive? # to save memory
      generations.renew
      end_others(REPLACED)
      @order = DeployReport::Order.new(clients, canary)
    end

    # Takes the place of a deploy that is under way. Only if a generation is kept.
    def roll_back(clients)
      @log.info("the command rollback: the former master starts workers")
      generation = generations.roll_back
      end_others(ROLLED_BACK)
      generation.report = report_on(generation.setup, :rollback, clients: clients)
    end

    # True while an executed master starts or a rollback is under way, or if a deploy was ordered.
    def busy? = generations.under_way.any? || !@order.nil?

    # The same, without a master that nobody has asked for: it replaces one that has died, or got a signal.
    def ordered? = generations.under_way.any?(&:ordered) || !@order.nil?

    # Called when the server stops.
    def discard(reason)
      with_report do |one|
        fail_now(one, reason)
        close_one(one)
      end
      drop_order(reason)
    end

    # Called when another deploy, or another program of the supervisor, takes the place of those that are under way.
    def supersede(reason = REPLACED) = with_report { |one| one.report.supersede(reason) }

    # --- called by Generations ---

    def start
      setup = Generation::Setup.new(@number += 1)
      @number == 1 || loaded? ? fork_master(setup) : execute_master(setup)
    end

    # Called when a master has loaded the application. Returns whether its listeners listen.
    def listen(generation)
      raise StartError, "the new master has sent no configuration" unless generation.setup.listeners

      generation.setup.listeners.listen if generation.start
      generation.tell(@stop.announced? ? :announce : :recall)
      true
    rescue StartError => e
      @log.error(e.message)
      false
    end

    # If an address is closed, the former master does not stay, because it would keep the address. A superseded former
    # master never took effect. It does not stay either.
    def seconds_to_keep(generation)
      return 0 if generation.report.nil? || superseded_serves?

      setup = generation.setup
      (serving.listeners.to_a - setup.listeners.to_a).empty? ? setup.config.seconds(:keep_former) : 0
    end

    def workers_serve?(generation)
      serving.listeners.worker_links.serving.any? { |pid| StatLine.parent_of(pid) == generation.pid }
    end

    # The configuration of the generation takes effect in the supervisor.
    def take_effect(generation)
      return take_effect_forked(generation.setup) unless generation.report

      former = serving
      @serving = generation.setup
      generations.workers = generation.workers(generations.workers)
      generation.resize(generations.workers)
      serving.listeners.take_effect(former.listeners)
      generation.report.succeed
      @effect.call(generation)
    end

    def fail(generation, reason)
      report = generation.report or return
      point_to_command if report.unheard? && !generation.rollout&.failure
      fail_now(generation, "#{report.master} #{reason}", ends: generation.process.deaf? && !generation.process.ended?)
    end

    def ended(generation)
      if (report = generation.report)
        fail_now(generation, "#{report.master} has ended: #{generation.ending}")
        close_one(generation)
      end
      @adopted.take
    end

    # --- the loop ---

    # Readable when a master that starts has sent its message, or has written to standard error, or has ended.
    def sources = generations.all.flat_map { |one| [*one.start&.sources, *one.report&.sources] }

    # Reads the messages and errors of masters that have been executed.
    def hear
      with_report do |one|
        one.report.take
        answer(one) if one.start&.asked?
      end
    end

    private

    def with_report(&) = generations.all.select(&:report).each(&)

    # Those that are under way end, or continue until the next one is ready if nobody else serves.
    def end_others(reason)
      supersede(reason)
      with_report { |one| fail_now(one, reason) if one.leaving? }
      drop_order(reason)
    end

    def close_one(generation)
      generation.start&.close
      generation.report.close
    end

    # The next deploy can bind the new addresses.
    def fail_now(generation, reason, ends: false)
      generation.report.fail(reason, status: generation.rollout&.failure, ends: ends)
      generation.setup.listeners&.discard if generation.start
    end

    # Ends a deploy whose master is not forked yet.
    def drop_order(reason)
      @order&.drop(reason)
      @order = nil
    end

    # A signal and a touched file give no answer.
    def point_to_command
      @log.info("`bontebok deploy --wait --control #{@control.path}` also prints the error") if @control.path
    end

    def superseded_serves? = generations.under_way.size > 1

    # Under rackup, the master that replaces a dead one is forked, too, and nothing else changes.
    def take_effect_forked(setup)
      return unless setup.number > serving.number

      @serving = setup
      report_on(setup, :replacement).succeed
    end

    def report_on(setup, kind, **options)
      DeployReport.new(setup.number, serving.listeners.worker_links.totals, @log, kind: kind, **options)
    end

    def fork_master(setup)
      setup.version, setup.config, setup.listeners = serving.to_a.drop(1)
      process = ForkedProcess.fork(to_close: @descriptors.call) do |channel|
        ExitFence.put if loaded?
        @log.generation = setup.number
        Master.new(setup.config, setup.listeners, generation: setup.number, workers: generations.workers,
                                                  channel: channel, log: @log, release: @release,
                                                  life_line: @life_line).run
      end
      Generation.new(setup, process)
    end

    # The clients that have asked for a deploy wait for this master.
    def execute_master(setup)
      start = StartOfMaster.execute(serving.config.account, @order&.canary, @log)
      Generation.new(setup, start.process).tap do |generation|
        generation.start = start
        generation.ordered = !@order.nil?
        generation.report = report_on(setup, @order ? :deploy : :replacement, reader: start.stderr,
                                                                              clients: @order ? @order.clients : [])
        @order = nil
      end
    rescue SystemCallError => e # Generations tries again
      @order&.refuse(e)
      raise
    end

    # A superseded generation loses no workers.
    def answer(generation)
      on_trial = generations.whole?
      answered = generation.start.answer(generation.setup, serving, life_line: @life_line) do
        rollout = generation.rollout = rollout_of(generation, on_trial)
        generation.told = rollout.first
        { workers: rollout.first, trial: on_trial ? rollout.count(generations.workers) : 0,
          canary: !generation.start.canary.nil? }
      end
      generation.report.master_logs if answered
    end

    def rollout_of(generation, on_trial)
      Rollout.new(generation.setup, present: generations.workers, former: superseded_serves? ? 1 : generations.workers,
                                    former_config: serving.config, report: generation.report,
                                    canary: generation.start.canary, on_trial: on_trial)
    end
  end
end
