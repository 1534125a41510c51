# frozen_string_literal: true

module Bontebok
  module Status
    # The difference of two snapshots. A count never falls: if the later one is smaller, another server has answered,
    # and the difference is 0. Without an earlier snapshot, each result is nil.
    class Rates
      # The earlier snapshot, and the time between the two; nil: there is no earlier one.
      attr_reader :earlier, :seconds

      def initialize(snapshot, earlier = nil)
        @snapshot = snapshot
        @earlier = earlier if earlier && earlier.at < snapshot.at
        @seconds = snapshot.at - earlier.at if @earlier
        @workers = @earlier.to_h.fetch(:workers, []).to_h { |worker| [identity(worker), worker] }
      end

      def known? = !@earlier.nil?

      # Responses per second, of all or of a class ("5xx").
      def responses(kind = nil)
        growth = growth_of(:responses) or return

        (kind ? growth.fetch(kind) : growth.values.sum) / seconds
      end

      # The growth of each number in a table of the totals, as { name => growth }.
      def growth_of(table)
        return unless known?

        before = @earlier.totals[table]
        @snapshot.totals[table].to_h { |name, now| [name, [now - before.fetch(name, 0), 0].max] }
      end

      # The growth of one total.
      def growth(total)
        [@snapshot.totals[total] - @earlier.totals[total], 0].max if known?
      end

      # The durations between the snapshots, as Histogram.
      def service_time
        @service_time ||= known? ? @snapshot.service_time - @earlier.service_time : nil
      end

      def queue_time
        @queue_time ||= known? ? @snapshot.queue_time - @earlier.queue_time : nil
      end

      # The same process in the earlier snapshot, or nil.
      def before(worker)
        @workers[identity(worker)]
      end

      # A worker's part of the time that passed: of :cpu or of :gc_time, 1.0 is one thread that never paused.
      def share(worker, key)
        former = before(worker) or return
        return unless worker[key] && former[key]

        [worker[key] - former[key], 0.0].max / seconds
      end

      private

      def identity(worker) = worker.values_at(:number, :pid)
    end
  end
end
