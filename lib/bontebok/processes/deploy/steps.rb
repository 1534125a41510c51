# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  class Deploy
    # The part of Deploy that starts the workers in steps (deploy_surge), judges the canary, and waits until the new
    # generation has proved itself: for err_respawn_interval after all its workers are ready, the former generation
    # serves as well.
    module Steps
      # The number of workers that the master starts first; nil before #answer.
      attr_reader :first

      # Returns how many workers the master must start next, and how many former workers leave (deploy_surge). 0: it
      # has all its workers. :hold: the canary or the generation is not judged yet. master: the Child. present: as in
      # #count.
      def surge(master, present)
        return 0 unless @first

        step = next_step(master, present)
        @held = step == :hold
        step
      end

      # The time of the next #judge; nil: there is nothing to judge.
      def deadline
        return if @over

        @crashed ? Clock.now : @proved_at || (@canary&.deadline unless @verdict)
      end

      # Returns nil, or the verdict: of the canary (see Canary#verdict), :crashed, or :good if the time is over. Tells
      # the canary's numbers to the clients.
      def judge
        return if deadline.nil? || deadline > Clock.now

        verdict = @crashed ? :crashed : judge_generation
        @report.say(@canary.table) if verdict && @canary&.deadline && @proved_at.nil?
        @over = verdict == :crashed || @proved_at
        @failure = { bad: 4, crashed: @canary ? 4 : 1, few: 5 }[verdict]
        verdict
      end

      # Called when one of the new workers has ended by itself. Workers that reach a limit (requests, age, memory) are
      # replaced as usual.
      def note_crash
        @crashed = @on_trial
        @held = false
      end

      # Called while no former generation could serve in place of the new one. If the new one is held, the next #judge
      # returns :good. But if one of its workers has ended and is not replaced yet, the next #surge continues.
      def end_trial
        @report.say("no former master serves: the canary is not judged") if @canary && @verdict != :good
        @proved_at = (Clock.now if @held)
        @canary = @crashed = @on_trial = nil
      end

      private

      # Returns the number of workers that the master starts first.
      def first_workers(present, former)
        @former_workers = former
        first = @canary ? @canary.count : @config[:deploy_surge]
        @first = @step = first.positive? ? [first, count(present)].min : count(present)
      end

      def next_step(master, present)
        return :hold if @crashed # the next #judge takes the generation back
        return hold(master, count(present)) if @canary && @verdict != :good

        rest = count(present) - master.workers
        return prove unless rest.positive?
        return rest, 0 if @config[:deploy_surge].zero?

        leave = [@step, @former_workers - 1].min # the last one leaves at the end
        @former_workers -= leave
        @step = [rest, @config[:deploy_surge]].min
        [@step, leave]
      end

      def hold(master, wanted)
        return :hold if @canary.deadline

        @report.say("generation #{@generation}: #{master.workers} of #{wanted} workers serve beside the former ones")
        @canary.begin(master.pid, @listeners.worker_links)
        :hold
      end

      def prove
        @proved_at ||= Clock.now + (@on_trial ? @config.seconds(:err_respawn_interval) : 0)
        @proved_at > Clock.now ? :hold : 0
      end

      def judge_generation
        @proved_at ? :good : @verdict = @canary.verdict
      end
    end
  end
end
