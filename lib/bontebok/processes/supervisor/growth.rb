# frozen_string_literal: true

require_relative "../../config/machine/cpus"
require_relative "auto_workers"

module Bontebok
  class Supervisor
    # The part of Supervisor for `max_workers auto`. The server starts with one worker. When this worker serves, the
    # server starts the others (see AutoWorkers). It decides once: deploys and commands then keep or change this number.
    module Growth
      private

      # Called when the first worker is ready. A number that a command has asked for meanwhile counts.
      def grow_at_start
        grow(serving_workers.first) if @config.auto_workers? && @workers == 1
      end

      # Called when a master has taken effect. deploy: see Deploy#grows?.
      def grow_after_deploy(child, deploy)
        grow(serving_workers.find { |pid| ProcessParent.of(pid) == child.pid }) if deploy.grows?
      end

      # worker: the pid of a worker that serves, or nil. Under rackup, there are no deploys.
      def grow(worker)
        memory = worker && AutoWorkers.measure(worker)
        decision = AutoWorkers.decide(cpus: Cpus.new.count, limit: MemoryLimit.read, memory: memory, least: @workers,
                                      surge: @config[:deploy_surge], generations: @app ? 1 : 2)
        @log.info(decision.to_s)
        change_workers(1, :more) while @workers < decision.workers
      end
    end
  end
end
