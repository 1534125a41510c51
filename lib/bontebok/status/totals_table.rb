# frozen_string_literal: true

require_relative "snapshot"

module Bontebok
  module Status
    # The totals of a snapshot (Snapshot), from the totals in the server's memories (Core::Metrics#totals).
    class TotalsTable
      PLAIN = %i[aborted hijacked bytes_in bytes_out accepted passed_on gc_runs files].freeze
      # { name in the snapshot => path in the core's names }
      PROBES = { "ready" => "ready_path", "live" => "live_path" }.freeze
      private_constant(*constants)

      # all: an Array with a Hash for each memory.
      def initialize(all)
        @all = all
        @counters = add(:counters)
        @names = add(:names)
      end

      def to_h
        { responses: Snapshot::CLASSES.to_h { |one| [one, @counters[:"responses_#{one}"]] },
          **PLAIN.to_h { |name| [name, @counters[name]] }, gc_time: @counters[:gc_time] / 1e6,
          rejected: named("rejected "), worker_ends: named("ended "), deploys: named("deploy "),
          slow_requests: @names["slow requests"], lost_log_lines: @names["log lines lost"],
          probes: PROBES.to_h { |name, path| [name, probe(name.to_sym, path)] } }
      end

      # The counts of :queue_time or :service_time.
      def times(name)
        @all.map { |one| one[name] }.reduce { |sums, counts| sums.zip(counts).map(&:sum) }
      end

      private

      # The sums over all memories.
      def add(part)
        @all.each_with_object(Hash.new(0)) do |one, sums|
          one[part].each { |name, count| sums[name] += count }
        end
      end

      def named(prefix)
        prefix = prefix.b
        found = @names.select { |name, count| name.b.start_with?(prefix) && count.positive? }
        found.transform_keys { |name| name.b.delete_prefix(prefix) }
      end

      # The memory with the last probe tells how many failed in a row.
      def probe(name, path)
        last = @all.map { |one| one[name] }.max_by { |one| one[:last] } || { last: 0, in_a_row: 0 }
        { ok: @names["probe #{path} 200"], failed: @names["probe #{path} 503"], failed_in_a_row: last[:in_a_row],
          last: (last[:last] / 1000.0 if last[:last].positive?) }
      end
    end
  end
end
