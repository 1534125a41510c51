# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  # The steps in which an executed master starts its workers (deploy_surge), and the judgement of the new generation:
  # of the canary, and of the first seconds. For err_respawn_interval after all its workers are ready, the former
  # generation serves as well, and the new one may not lose a worker. In the states of Generation:
  #
  #   READY (first workers) --> HELD (canary) --good--> READY (more workers) --> HELD (first seconds) --good--> WHOLE
  #
  # A generation without a canary leaves out the first HELD. With deploy_surge, it is READY several times. A bad verdict
  # makes it FAILED, and in each of these states so does a worker that ends by itself. If the former generation dies,
  # nothing is judged any more: what is HELD is good.
  class Rollout
    # first: the number of workers that the master starts first. failure: why the verdict is bad, as the exit status of
    # the command; nil: it is not.
    attr_reader :first, :failure

    # setup: the Generation::Setup. present: the present number of workers. former: the number of former workers, of
    # which all but one can leave before the end. former_config: the present configuration. report: the DeployReport.
    # canary: the Canary, or nil. on_trial: a former generation serves, and stays if this one fails.
    def initialize(setup, present:, former:, former_config:, report:, canary: nil, on_trial: true)
      @config = setup.config
      @setup = setup
      @former_config = former_config
      @former_workers = former
      @report = report
      @canary = canary
      @on_trial = on_trial
      first = canary ? canary.count : @config[:deploy_surge]
      @first = @step = first.positive? ? [first, count(present)].min : count(present)
    end

    # The number of workers that the generation must have. present: the present number. A deploy keeps it if max_workers
    # is the same as before, because the memory (AutoWorkers) and signals may have changed it.
    def count(present)
      return [present, @config.workers].min if grows?

      same = @config.auto_workers? || (!@former_config.auto_workers? && @config.workers == @former_config.workers)
      same ? present : @config.workers
    end

    # True if max_workers is auto now, and was a number before: more workers may start when this generation serves.
    def grows?
      @config.auto_workers? && !@former_config.auto_workers?
    end

    # Called when all workers are ready that the master was told to start. Returns how many it must start next, and how
    # many former workers leave; or :whole: it has all its workers; or :hold: it is not judged yet. told: how many it
    # has now. present: as in #count.
    def step(told, present, pid)
      next_step(told, present, pid).tap { |step| @held = step == :hold }
    end

    # The time of the next #judge; nil: there is nothing to judge.
    def deadline
      return Clock.now if @crashed

      @proved_at || @canary&.deadline if @held
    end

    # Returns nil, or the verdict: of the canary (see Canary#verdict), :crashed, or :good if the time is over. Tells
    # the canary's numbers to the clients.
    def judge
      return if deadline.nil? || deadline > Clock.now

      verdict = @crashed ? :crashed : judge_generation
      @report.say(@canary.table) if verdict && @canary&.deadline && @proved_at.nil?
      @failure = { bad: 4, crashed: @canary ? 4 : 1, few: 5 }[verdict]
      @held = @crashed = false if verdict # the generation goes on (#step), or has failed
      verdict
    end

    # Called when one of the new workers has ended by itself: from now on, not all are ready. Workers that reach a limit
    # (requests, age, memory) are replaced as usual.
    def note_crash
      @crashed = @on_trial
      @held = false
    end

    # Called while no former generation could serve in place of the new one. If the new one is held, the next #judge
    # returns :good. But if one of its workers has ended and is not replaced yet, the next #step continues.
    def end_trial
      @report.say("no former master serves: the canary is not judged") if @canary && @verdict != :good
      @proved_at = (Clock.now if @held)
      @canary = @crashed = @on_trial = nil
    end

    private

    def next_step(told, present, pid)
      return :hold if @crashed # the next #judge takes the generation back
      return hold(told, count(present), pid) if @canary && @verdict != :good

      rest = count(present) - told
      return prove unless rest.positive?
      return [rest, 0] if @config[:deploy_surge].zero?

      leave = [@step, @former_workers - 1].min # the last one leaves at the end
      @former_workers -= leave
      @step = [rest, @config[:deploy_surge]].min
      [@step, leave]
    end

    def hold(told, wanted, pid)
      return :hold if @canary.deadline

      @report.say("generation #{@setup.number}: #{told} of #{wanted} workers serve beside the former ones")
      @canary.begin(pid, @setup.listeners.worker_links)
      :hold
    end

    def prove
      @proved_at ||= Clock.now + (@on_trial ? @config.seconds(:err_respawn_interval) : 0)
      @proved_at > Clock.now ? :hold : :whole
    end

    def judge_generation
      @proved_at ? :good : @verdict = @canary.verdict
    end
  end
end
