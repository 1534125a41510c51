# frozen_string_literal: true

require_relative "rates"
require_relative "server_rules"
require_relative "worker_look"

module Bontebok
  module Status
    # Finds the causes of trouble in a snapshot, the worst first. Some rules compare it with an earlier snapshot.
    class Diagnosis
      attr_reader :snapshot, :rates

      def initialize(snapshot, earlier = nil)
        @snapshot = snapshot
        @rates = Rates.new(snapshot, earlier)
      end

      # The causes of the whole server.
      def server
        @server ||= ServerRules.causes(snapshot, rates)
      end

      # A WorkerLook for each worker, the worst first.
      def workers
        @workers ||= snapshot.workers.map { |worker| WorkerLook.new(worker, rates.before(worker), rates.seconds) }
                             .sort_by(&:order)
      end

      # Returns [[cause, worker or nil]] of the server and all workers, the worst first.
      def all
        own = workers.flat_map { |look| look.causes.map { |cause| [cause, look.facts] } }
        [*server.map { |cause| [cause, nil] }, *own].sort_by.with_index { |(cause, _), i| [cause.rank, i] }
      end
    end
  end
end
