# frozen_string_literal: true

require_relative "cause"
require_relative "snapshot"
require_relative "worker_rules"

module Bontebok
  module Status
    # One worker of a snapshot, with what the rules and the screen ask about it, and the causes of its trouble.
    class WorkerLook
      attr_reader :facts, :before, :seconds

      # facts: the worker's Hash in the snapshot. before: the same process in an earlier snapshot, or nil.
      # seconds: the time between the two, or nil.
      def initialize(facts, before = nil, seconds = nil)
        @facts = facts
        @before = before
        @seconds = seconds
      end

      def [](key) = facts[key]

      def threads = facts[:threads]

      # The worst first.
      def causes
        @causes ||= WorkerRules.causes(self)
      end

      # Trouble first, then the longest request, then the number.
      def order
        [causes.first&.rank || Cause::KINDS.size, -longest, facts[:number]]
      end

      # Nothing to say: the worker has no trouble and no request.
      def quiet? = causes.empty? && requests.empty?

      # The threads with a request.
      def requests
        @requests ||= threads.select { |thread| Snapshot.busy?(thread) }
      end

      # For how long the oldest and the youngest request have run. 0: there is no request.
      def longest = requests.map { |thread| thread[:taken] || 0.0 }.max || 0.0
      def shortest = requests.map { |thread| thread[:taken] || 0.0 }.min || 0.0

      # For how long the main thread has not run although requests are there. A heartbeat comes each second while the
      # worker has requests, so the time before the oldest request does not count.
      def silence
        [facts[:silent] || 0.0, longest].min
      end

      # Every thread has a request.
      def full? = !threads.empty? && requests.size == threads.size

      # The CPU time that the thread used since the earlier snapshot, in seconds; nil: not known.
      def cpu_growth(thread)
        former = former_threads[thread[:tid]]
        thread[:cpu] - former[:cpu] if former && thread[:cpu] && former[:cpu]
      end

      private

      def former_threads
        @former_threads ||= before.to_h.fetch(:threads, []).to_h { |thread| [thread[:tid], thread] }
      end
    end
  end
end
