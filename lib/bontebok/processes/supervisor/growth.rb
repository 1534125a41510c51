# frozen_string_literal: true

require_relative "../../config/machine/cpus"
require_relative "../../system/clock"
require_relative "../../system/proc/stat_line"
require_relative "auto_workers"

module Bontebok
  class Supervisor
    # `max_workers auto`: the server starts with one worker. When this worker serves, the server starts the others (see
    # AutoWorkers). It decides once: deploys and commands then keep or change this number.
    class Growth
      # Seconds until the supervisor looks again for a worker, if the worker has ended before it was measured.
      LOOK_FOR_WORKER = 0.25

      # masters: the Generations.
      def initialize(deploys, masters, stop, log)
        @deploys = deploys
        @masters = masters
        @stop = stop
        @log = log
      end

      # Called when the first worker is ready. A number that a command has asked for meanwhile counts.
      def begin_at_start
        plan([]) if config.auto_workers? && @masters.workers == 1
      end

      # Called when the generation has taken effect, and may grow (Rollout#grows?).
      def begin_after_deploy(generation)
        plan(serving.reject { |pid| StatLine.parent_of(pid) == generation.pid })
      end

      # If the worker has ended before it was measured, the next one is measured.
      def tick
        @former = nil unless due?
        return unless @former

        worker = (serving - @former).first
        memory = worker && AutoWorkers.measure(worker)
        grow(memory) if memory || @deploys.separate? || (worker && !AutoWorkers.ended?(worker))
      end

      # The time of the next #tick; nil: it need not be called.
      def deadline
        Clock.now + LOOK_FOR_WORKER if @former
      end

      private

      def config = @deploys.serving.config

      def serving = @deploys.serving.listeners.worker_links.serving

      # former: the pids of workers that are not measured.
      def plan(former)
        @former = former
        @workers = @masters.workers
        tick
      end

      def due?
        @workers == @masters.workers && config.auto_workers? && !@stop.ends?
      end

      # memory: nil if it cannot be measured. Without deploys, a generation needs no memory beside another one.
      def grow(memory)
        @former = nil
        decision = AutoWorkers.decide(cpus: Cpus.new.count, limit: MemoryLimit.read, memory: memory,
                                      surge: config[:deploy_surge], generations: @deploys.loaded? ? 1 : 2,
                                      least: @masters.workers)
        @log.info(decision.to_s)
        @masters.change_workers(:more) while @masters.workers < decision.workers
      end
    end
  end
end
