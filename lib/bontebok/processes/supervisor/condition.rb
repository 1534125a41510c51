# frozen_string_literal: true

require_relative "../../version"

module Bontebok
  class Supervisor
    # How the server is, for the service manager (StateReport) and for commands.
    class Condition
      # masters: the Generations. start: the FirstStart. loaded: true if rackup has loaded the application.
      def initialize(deploys, masters, adopted, stop:, start:, renewal:, loaded:)
        @deploys = deploys
        @masters = masters
        @adopted = adopted
        @stop = stop
        @start = start
        @renewal = renewal
        @loaded = loaded
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

        separate? || links.moving?(@deploys.serving.config.seconds(:worker_timeout))
      end

      # True if the workers of the serving master can be on a scoreboard of their own (see Successor).
      def separate?
        executed = @deploys.serving.number > 1 && !@loaded
        @deploys.serving.version != VERSION || (executed && links.descriptors.empty?)
      end

      private

      def state
        return "stopping" if @stop.ends?
        return "deploying" if @start.under_way? || @deploys.busy?

        @stop.drains? ? "draining" : "serving"
      end

      def links = @deploys.serving.listeners.worker_links

      # A replacement of a dead master is not a deploy.
      def reloading?
        (@masters.under_way.any? && @masters.whole?) || @renewal.under_way?
      end

      def notes
        workers = @masters.workers
        ["generation #{@deploys.serving.number} serves with #{workers} worker#{'s' unless workers == 1}",
         ("a new master starts" if @masters.under_way.any?), ("workers are replaced" if @renewal.under_way?),
         ("draining" if @stop.drains?)]
      end
    end
  end
end
