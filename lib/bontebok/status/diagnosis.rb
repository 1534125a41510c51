# frozen_string_literal: true

require_relative "rates"
require_relative "server_rules"
require_relative "worker_look"
require_relative "worker_rules"

module Bontebok
  module Status
    # Finds the causes of trouble in a snapshot, the worst first. Some rules compare it with an earlier snapshot.
    class Diagnosis
      # A worker with its causes.
      Finding = Struct.new(:look, :causes, keyword_init: true) do
        # Trouble first, then the longest request, then the number.
        def order
          [causes.first&.rank || Cause::KINDS.size, -look.longest, look[:number]]
        end

        # Nothing to say: the worker has no trouble and no request.
        def quiet? = causes.empty? && look.requests.empty?
      end

      attr_reader :snapshot, :rates

      def initialize(snapshot, earlier = nil)
        @snapshot = snapshot
        @rates = Rates.new(snapshot, earlier)
      end

      # The causes of the whole server.
      def server
        @server ||= ServerRules.causes(snapshot, rates)
      end

      # A Finding for each worker, the worst first.
      def workers
        @workers ||= snapshot.workers.map { |worker| finding(worker) }.sort_by(&:order)
      end

      # Returns [[cause, worker or nil]] of the server and all workers, the worst first.
      def all
        own = workers.flat_map { |found| found.causes.map { |cause| [cause, found.look.facts] } }
        [*server.map { |cause| [cause, nil] }, *own].sort_by.with_index { |(cause, _), i| [cause.rank, i] }
      end

      private

      def finding(worker)
        look = WorkerLook.new(worker, rates.before(worker), rates.seconds)
        Finding.new(look: look, causes: WorkerRules.causes(look))
      end
    end
  end
end
