# frozen_string_literal: true

require_relative "picture"

module Bench
  module Pictures
    # Which generations of workers there are in the course of events. Each panel has rows of bars over time.
    #
    #   panels   [{"title": ..., "rows": [{"name": ..., "bars": [[from, to, state], ...]}],
    #              "marks": [[at, words], ...]}, ...], times are 0 to 100
    #   states   the names of the states in the order of their colours
    class Phases < Picture
      LEFT = 150
      RIGHT = 800
      # Heights: of a panel's title and of the words of its marks, of a row, and between two panels.
      HEAD = 36
      ROW = 17
      GAP = 6
      # How strongly a state is coloured. Only "serves" is full.
      OPACITY = { "loads" => 0.35, "serves" => 1, "serves a part" => 0.7, "finishes its requests" => 0.45,
                  "kept, idle" => 0.2 }.freeze

      private

      def draw
        top = TOP - 12
        @picture.fetch("panels").each { |panel| top = panel(panel, top) }
        legend(OPACITY)
      end

      # Returns the top of the next panel.
      def panel(panel, top)
        text(16, top + 12, panel.fetch("title"), weight: 600)
        rows = panel.fetch("rows")
        bottom = top + HEAD + (rows.size * ROW)
        panel.fetch("marks").each { |at, words| mark(at, words, top + HEAD - 6, bottom) }
        rows.each_with_index { |row, index| row(row, colour(row, index), top + HEAD + (index * ROW)) }
        bottom + GAP
      end

      def mark(at, words, base, bottom)
        line([x(at), base - 10], [x(at), bottom], stroke: @theme.faint, dashes: "3 3")
        text(x(at) + 5, base, words, size: 12, fill: @theme.faint)
      end

      def row(row, fill, top)
        text(LEFT - 10, top + 12, row.fetch("name"), size: 12, anchor: "end", fill: fill)
        row.fetch("bars").each do |from, to, state|
          box(x(from), top + 2, x(to) - x(from) - 1, ROW - 4, fill: fill, opacity: OPACITY.fetch(state))
        end
      end

      def x(at) = LEFT + ((RIGHT - LEFT) * at.fdiv(100))
    end
  end
end
