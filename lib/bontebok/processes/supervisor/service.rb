# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  class Supervisor
    # The part of Supervisor that shows the service manager what the server does (ServiceReport).
    module Service
      # Seconds between two checks whether workers are replaced.
      LOOK = 0.25

      private

      def tick_service
        return unless @service.wanted?

        state = service_state
        @service.tick(state, status: service_status(state), listeners: @listeners, config: @config) { alive? }
      end

      def service_deadline
        [*@service.deadline, *(Clock.now + LOOK if @replaced)].min
      end

      def service_state
        if @stopping || @departure || @drain_delay.begun? then :stopping
        elsif @steps.any? then :starting
        elsif deploying? || replacing? then :reloading
        else :serving
        end
      end

      # A replacement of a dead master is not a deploy.
      def deploying?
        @masters.under_way.any? && @masters.whole?
      end

      # Called when all workers are to be replaced.
      def note_replacement
        return unless @service.wanted?

        @service.reload
        @replaced = serving_workers
        @replaced_by = Clock.now + Generations.limit(@config)
      end

      def replacing?
        @replaced = nil unless @replaced&.intersect?(serving_workers) && Clock.now < @replaced_by
        !@replaced.nil?
      end

      def serving_workers
        @listeners.worker_links.serving
      end

      def service_status(state)
        case state
        when :stopping then "stopping: requests are finished"
        when :starting then "starting: the application is loaded"
        else
          [size, ("a new master starts" if @masters.under_way.any?), ("workers are replaced" if @replaced),
           ("draining" if @drains)].compact.join("; ")
        end
      end

      def size
        "generation #{@deploys.serving.number} serves with #{@masters.workers} worker#{'s' unless @masters.workers == 1}"
      end

      # True if a master answers (or the adopted workers of a dead master serve), and a worker runs, as far as the
      # supervisor can see the workers.
      def alive?
        return false unless @masters.answering? || !@adopted.empty?

        separate? || @listeners.worker_links.moving?(@config.seconds(:worker_timeout))
      end

      # True if the workers of the serving master can be on a scoreboard of their own (see Successor).
      def separate?
        executed = @deploys.serving.number > 1 && !@release
        @deploys.serving.version != VERSION || (executed && @listeners.worker_links.descriptors.empty?)
      end
    end
  end
end
