# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  class Deploy
    # The part of Deploy that starts the workers in steps (DeploySurge), and judges the canary.
    module Steps
      # Returns how many workers the master must start next, and how many former workers leave (DeploySurge). 0: it
      # has all its workers. :hold: the canary is not judged yet. master: the pid of the master.
      def surge(master)
        return 0 unless @wanted
        return hold(master) if @canary && @judged != :good

        rest = @wanted - @started
        return start_more(rest), 0 if @config[:deploy_surge].zero?

        leave = [@step, @former_workers - 1].min # the last one leaves at the end
        @former_workers -= leave
        [start_more([rest, @config[:deploy_surge]].min), leave]
      end

      # The time of the next #judge; nil: there is no canary, or it is judged.
      def deadline
        @canary&.deadline unless @judged
      end

      # Returns nil, or the verdict of the canary. Tells it to the clients.
      def judge
        return if deadline.nil? || deadline > Clock.now

        @judged = @canary.verdict
        @report.say(@canary.table) if @judged
        @failure = { bad: 4, crashed: 4, few: 5 }[@judged]
        @judged
      end

      # Called when one of the new workers has ended by itself.
      def note_crash
        @canary&.note_crash
      end

      private

      # The number of workers that the master starts first.
      def first_workers(present)
        @former_workers = present
        @wanted = count(present)
        first = @canary ? @canary.count : @config[:deploy_surge]
        @started = 0
        start_more(first.positive? ? [first, @wanted].min : @wanted)
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
    end
  end
end
