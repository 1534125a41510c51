# frozen_string_literal: true

require_relative "../../config/machine/cpus"
require_relative "../../system/clock"
require_relative "auto_workers"

module Bontebok
  class Supervisor
    # The part of Supervisor for `max_workers auto`. The server starts with one worker. When this worker serves, the
    # server starts the others (see AutoWorkers). It decides once: deploys and commands then keep or change this number.
    module Growth
      # Seconds until the supervisor looks again for a worker, if the worker has ended before it was measured.
      LOOK_FOR_WORKER = 0.25
      # A decision to come. former: the pids of workers that are not measured. workers: their present number.
      Due = Struct.new(:former, :workers)
      private_constant :Due

      private

      # Called when the first worker is ready. A number that a command has asked for meanwhile counts.
      def grow_at_start
        plan_growth([]) if @config.auto_workers? && @masters.workers == 1
      end

      # Called when a generation has taken effect.
      def grow_after_deploy(generation)
        return unless generation.rollout&.grows?

        plan_growth(@listeners.worker_links.serving.reject { |pid| ProcessParent.of(pid) == generation.pid })
      end

      def plan_growth(former)
        @growth = Due.new(former, @masters.workers)
        tick_growth
      end

      # Called in the supervisor's loop. If the worker has ended before it was measured, the next one is measured.
      def tick_growth
        @growth = nil unless growth_due?
        return unless @growth

        worker = (@listeners.worker_links.serving - @growth.former).first
        memory = worker && AutoWorkers.measure(worker)
        grow(memory) if memory || @condition.separate? || (worker && !AutoWorkers.ended?(worker))
      end

      def growth_due?
        @growth&.workers == @masters.workers && @config.auto_workers? && !@stop.ends?
      end

      def growth_deadline
        Clock.now + LOOK_FOR_WORKER if @growth
      end

      # memory: nil if it cannot be measured. Under rackup, there are no deploys.
      def grow(memory)
        @growth = nil
        decision = AutoWorkers.decide(cpus: Cpus.new.count, limit: MemoryLimit.read, memory: memory, least: @masters.workers,
                                      surge: @config[:deploy_surge], generations: @release ? 1 : 2)
        @log.info(decision.to_s)
        @masters.change_workers(:more) while @masters.workers < decision.workers
      end
    end
  end
end
