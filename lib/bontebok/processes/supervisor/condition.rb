# frozen_string_literal: true

module Bontebok
  class Supervisor
    # How the server is, for the service manager (ServiceReport) and for commands.
    class Condition
      # masters: the Generations. start: the FirstStart. workers: the WorkerOrders.
      def initialize(deploys, masters, adopted, stop:, start:, workers:)
        @deploys = deploys
        @masters = masters
        @adopted = adopted
        @stop = stop
        @start = start
        @workers = workers
      end

      # For the commands `status` and `watch`. All values are JSON.
      def show
        { generation: @deploys.serving.number, workers: @masters.workers, state: state,
          former: @masters.kept&.setup&.number, mode: "cluster", masters: @masters.pids }
      end

      # Returns the state (see ServiceReport), and the state in words.
      def describe
        return [:stopping, "stopping: requests are finished"] if @stop.begun?
        return [:starting, "starting: the application is loaded"] if @start.under_way?

        [reloading? ? :reloading : :serving, notes.compact.join("; ")]
      end

      # True if a master answers (or the adopted workers of a dead master serve), and a worker runs, as far as the
      # supervisor can see the workers.
      def alive?
        return false unless @masters.answering? || !@adopted.empty?

        serving = @deploys.serving
        @deploys.separate? || serving.listeners.worker_links.moving?(serving.config.seconds(:worker_timeout))
      end

      private

      def state
        return "stopping" if @stop.ends?
        return "deploying" if @start.under_way? || @deploys.busy?

        @stop.drains? ? "draining" : "serving"
      end

      # A master that starts in place of a dead one is no reload.
      def reloading? = (@masters.under_way.any? && @masters.on_trial?) || @workers.renews?

      def notes
        workers = @masters.workers
        ["generation #{@deploys.serving.number} serves with #{workers} worker#{'s' unless workers == 1}",
         ("a new master starts" if @masters.under_way.any?), ("workers are replaced" if @workers.renews?),
         ("draining" if @stop.drains?)]
      end
    end
  end
end
