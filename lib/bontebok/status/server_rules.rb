# frozen_string_literal: true

require_relative "cause"
require_relative "units"

module Bontebok
  module Status
    # What can be wrong with the server as a whole: a rule for each cause. A rule gets a Snapshot and Rates, and returns
    # an Array of Cause.
    module ServerRules
      RULES = %i[trouble no_worker not_accepted queue_full].freeze
      # In these states a server without workers is in trouble.
      SERVES = %w[serving deploying draining].freeze
      # An accept queue with more than this part of its limit is nearly full.
      FULL = 0.8

      class << self
        def causes(snapshot, rates)
          RULES.flat_map { |rule| public_send(rule, snapshot, rates) }
        end

        # Processes that do not answer.
        def trouble(snapshot, _rates)
          snapshot.server[:trouble].map { |sentence| Cause.new(kind: :trouble, text: sentence) }
        end

        # hidden: workers may serve that the snapshot lacks.
        def no_worker(snapshot, _rates)
          return [] if snapshot.workers.any? || snapshot.server[:hidden]
          return [] unless SERVES.include?(snapshot.server[:state])

          wanted = snapshot.server[:workers] || 0
          [Cause.new(kind: :no_worker, text: "NO WORKER SERVES#{": there must be #{wanted}" if wanted.positive?}")]
        end

        def not_accepted(snapshot, _rates)
          snapshot.accept_queues.select { |queue| full?(queue) }.map do |queue|
            text = "NOBODY ACCEPTS on #{queue[:address]}: accept queue #{queue[:length]} of #{queue[:limit]}"
            Cause.new(kind: :not_accepted, text: text)
          end
        end

        # The queue is full now, or was full between the two looks.
        def queue_full(snapshot, rates)
          limit = snapshot.server[:max_queue]
          waiting = snapshot.waiting[:requests] || 0
          rejected = rates.growth_of(:rejected).to_h.fetch("queue_full", 0)
          return [] unless rejected.positive? || (limit.positive? && waiting >= limit)

          text = "MAX_QUEUE IS FULL: #{Units.several(waiting, 'request')} waiting, max_queue #{limit}"
          text += ", #{rejected} rejected in #{Units.duration(rates.seconds)}" if rejected.positive?
          [Cause.new(kind: :queue_full, text: text, seconds: snapshot.waiting[:oldest])]
        end

        private

        # limit 0: the kernel does not tell it.
        def full?(queue) = queue[:limit].positive? && queue[:length] > queue[:limit] * FULL
      end
    end
  end
end
