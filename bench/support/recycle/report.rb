# frozen_string_literal: true

require_relative "../aim"
require_relative "../psgi/commands"
require_relative "../psgi/markdown"

module Bench
  module Recycle
    # The table of bench/recycle, and the aims.
    class Report
      # Columns of the load tool's errors.
      ERRORS = %w[refused reset short status timeout].freeze
      COLUMNS = ["connections", "disturbance", "server", "strikes", "requests", "per second", "p99 ms", "longest ms",
                 *ERRORS, "broken connections"].freeze
      WORDS = 3 # columns with words; the others have numbers

      def initialize(chosen)
        @chosen = chosen
        @rows = []
      end

      def head = Psgi::Markdown.head(COLUMNS, WORDS)

      # Prints the row at once, because the measurement takes minutes.
      def add(row)
        @rows << row
        result = row.result
        Psgi::Markdown.row([row.mode, row.disturbance.title, @chosen.title(row.name), row.strikes, result.requests,
                            result.rate.round, *%w[p99 max].map { |name| milliseconds(result, name) },
                            *result.errors.values_at(*ERRORS), row.broken])
      end

      def judge
        puts
        ours = @rows.select { |row| row.name == Psgi::OURS }
        return puts("no aims without #{Psgi::OURS}") if ours.empty?

        ours.group_by(&:disturbance).each do |disturbance, rows|
          lost = rows.sum(&:lost)
          allowed = disturbance.harmless? ? 0 : rows.sum(&:broken)
          Bench.aim("#{disturbance.title}: at most #{allowed} requests are lost (#{lost})", lost <= allowed)
        end
      end

      private

      def milliseconds(result, name) = result.latency_us[name]&.then { |us| format("%.1f", us / 1000.0) } || "-"
    end
  end
end
