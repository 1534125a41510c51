# frozen_string_literal: true

module Bontebok
  module Status
    # The workers of a snapshot (Snapshot), from the lanes of the server's scoreboard, and what these have counted.
    module WorkerTable
      # The core's names of connections (BB_CONNECTIONS) that have another name in a snapshot.
      NAMES = { keepalive: :idle }.freeze
      private_constant :NAMES

      class << self
        # lanes: see Core::Scoreboard#lanes. counted: { [slot, pid] => Hash of Core::Metrics#lanes }. Returns a Hash for
        # each process, in the order of the workers' numbers.
        def of(lanes, counted)
          workers = lanes.group_by { |lane| lane[:pid] }.map.with_index(1) do |(pid, own), index|
            worker(pid, own, own.map { |lane| counted[[lane[:slot], pid]] }, index)
          end
          workers.sort_by { |worker| worker.values_at(:number, :pid) }
        end

        private

        # counted: for each lane its Hash, or nil.
        def worker(pid, lanes, counted, index)
          known = counted.compact
          first = known.first || { worker: index }
          { pid: pid, number: first[:worker], generation: first[:generation], started: seconds(first[:began]),
            leaves: any?(lanes, :leaves), paused: any?(lanes, :paused),
            silent: seconds(lanes.filter_map { |lane| lane[:silent] }.min),
            requests: sum(lanes, :requests), errors: sum(lanes, :errors), detached: sum(lanes, :detached),
            connections: connections(known), gc_time: gc_time(known),
            threads: lanes.zip(counted).map.with_index(1) { |(lane, numbers), number| thread(lane, numbers, number) } }
        end

        def connections(counted)
          kinds = counted.empty? ? [] : counted.first[:connections].keys
          kinds.to_h { |kind| [NAMES.fetch(kind, kind), counted.sum { |lane| lane[:connections][kind] }] }
        end

        def gc_time(counted)
          counted.sum { |lane| lane[:gc_time] } / 1e6 if counted.any?
        end

        def thread(lane, numbers, number)
          tid = numbers&.fetch(:thread)
          { number: number, tid: (tid if tid&.positive?), state: lane[:state].to_s, taken: seconds(lane[:taken]),
            queue_time: seconds(lane[:queue_time]), label: lane[:label], held: lane[:held]&.to_s }
        end

        def any?(lanes, key) = lanes.any? { |lane| lane[key] }
        def sum(lanes, key) = lanes.sum { |lane| lane[key] }

        def seconds(milliseconds)
          milliseconds / 1000.0 if milliseconds
        end
      end
    end
  end
end
