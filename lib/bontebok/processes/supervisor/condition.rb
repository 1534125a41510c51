# frozen_string_literal: true

require_relative "../../version"

module Bontebok
  class Supervisor
    # How the server is, for the service manager (StateReport).
    class Condition
      # masters: the Generations. release: true if rackup has loaded the application. starts: returns whether the first
      # start goes on.
      def initialize(deploys, masters, adopted, stop:, renewal:, release:, starts:)
        @deploys = deploys
        @masters = masters
        @adopted = adopted
        @stop = stop
        @renewal = renewal
        @release = release
        @starts = starts
      end

      # Returns the state (see ServiceReport), and the state in words.
      def describe
        return [:stopping, "stopping: requests are finished"] if @stop.begun?
        return [:starting, "starting: the application is loaded"] if @starts.call

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
        executed = @deploys.serving.number > 1 && !@release
        @deploys.serving.version != VERSION || (executed && links.descriptors.empty?)
      end

      private

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
