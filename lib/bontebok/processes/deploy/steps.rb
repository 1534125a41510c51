# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  class Deploy
    # The part of Deploy that starts the workers in steps (DeploySurge), judges the canary, and waits until the new
    # generation has proved itself: for ErrRespawnInterval after all its workers are ready, the former generation serves
    # as well.
    module Steps
      # Returns how many workers the master must start next, and how many former workers leave (DeploySurge). 0: it
      # has all its workers. :hold: the canary or the generation is not judged yet. master: the pid of the master.
      def surge(master)
        return 0 unless @wanted

        step = next_step(master)
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

      # The number of workers that the master starts first.
      def first_workers(present, former)
        @former_workers = former
        @wanted = count(present)
        first = @canary ? @canary.count : @config[:deploy_surge]
        @started = 0
        start_more(first.positive? ? [first, @wanted].min : @wanted)
      end

      def next_step(master)
        return :hold if @crashed # the next #judge takes the generation back
        return hold(master) if @canary && @verdict != :good

        rest = @wanted - @started
        return prove if rest.zero?
        return start_more(rest), 0 if @config[:deploy_surge].zero?

        leave = [@step, @former_workers - 1].min # the last one leaves at the end
        @former_workers -= leave
        [start_more([rest, @config[:deploy_surge]].min), leave]
      end

      def start_more(count)
        @started += count
        @step = count
      end

      def hold(master)
        return :hold if @canary.deadline

        @report.say("generation #{@generation}: #{@started} of #{@wanted} workers serve beside the former ones")
        @canary.begin(master, @listeners.worker_links)
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
