# frozen_string_literal: true

require_relative "../aim"
require_relative "contestants"

module Bench
  module Psgi
    # Prints the tables in Markdown, and whether the aims are met.
    class Report
      # { fields => CPU microseconds that our server may need in addition to core_host }
      MORE = { 1 => 5, 12 => 8 }.freeze
      FAILS = "fails"

      # chosen: a Chosen. settings: the Settings of all servers. figures: a Figures. reasons: { [cell, name] => reason
      # for which there are no figures }.
      def initialize(chosen, settings, figures, reasons)
        @chosen = chosen
        @settings = settings
        @figures = figures
        @reasons = reasons
      end

      def table(cells)
        rows = [["", *cells.map(&:title), "how"], *@chosen.map { |contestant| row(contestant, cells) }]
        widths = rows.transpose.map { |column| column.map(&:size).max }
        rows.insert(1, widths.map { |width| "-" * width }).each do |values|
          puts "| #{values.zip(widths).map { |value, width| value.ljust(width) }.join(' | ')} |"
        end
      end

      def judge(cells)
        return puts("no aims without #{OURS}") unless measured?(OURS)

        MORE.each { |fields, limit| judge_distance(cells.select { |cell| cell.fields == fields }, fields, limit) }
        judge_peers(cells)
      end

      private

      def row(contestant, cells)
        name = contestant.name
        [@chosen.title(name), *cells.map { |cell| @reasons[[cell, name]] || figure(cell, name) },
         contestant.how(@settings)]
      end

      def figure(cell, name)
        return FAILS if @figures.failed?(cell, name)

        format("%.1f (%.1f)", @figures.cpu(cell, name), @figures.least(cell, name))
      end

      def measured?(name) = @chosen.any? { |contestant| contestant.name == name }

      def judge_distance(cells, fields, limit)
        return unless measured?(CORE) && cells.any?

        text = "#{fields} field#{'s' if fields > 1}: at most #{limit} us more than #{CORE}"
        judge_worst(text, limit, cells.map { |cell| [@figures.distance(cell, OURS, CORE), "us", cell] })
      end

      # Compared with the peers that have figures in the column.
      def judge_peers(cells)
        times = cells.product(PEERS).reject { |cell, peer| @figures.failed?(cell, peer) }
        return if times.empty?

        judge_worst("less than every peer in every column", 1,
                    times.map { |cell, peer| [@figures.ratio(cell, OURS, peer), "times #{peer}", cell] })
      end

      # cases: [[figure, or nil if there is none, its unit, cell], ...]. No figure may be above the limit, or be absent.
      def judge_worst(text, limit, cases)
        figure, unit, cell = cases.find { |each| each.first.nil? } || cases.max_by(&:first)
        shown = figure ? format("%.2f %s", figure, unit) : "no figure"
        Bench.aim("#{text} (#{cell}: #{shown})", !figure.nil? && figure <= limit)
      end
    end
  end
end
