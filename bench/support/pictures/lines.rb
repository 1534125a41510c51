# frozen_string_literal: true

require_relative "picture"

module Bench
  module Pictures
    # A figure of each server for each second. A second without a figure (null) is bridged by a dotted line.
    #
    #   from       the second of the first figure; the event is at second 0
    #   event      its name
    #   scale      "log" (milliseconds, 1 ms to 30 s) or "percent"
    #   series     [{"name": ..., "figures": [...]}, ...]
    class Lines < Picture
      LOG = [1, 10, 100, 1000, 10_000].freeze
      LOG_TOP = 30_000.0
      PERCENT = [0, 25, 50, 75, 100].freeze
      # The least distance of two names at the right.
      APART = 17

      private

      def draw
        grid
        series = @picture.fetch("series")
        series.each_with_index.reverse_each { |one, index| curve(one.fetch("figures"), colour(one, index)) }
        names(series)
      end

      def grid
        (log? ? LOG : PERCENT).each do |value|
          line([LEFT, y(value)], [RIGHT, y(value)])
          text(LEFT - 8, y(value) + 4, label(value), fill: @theme.faint, anchor: "end")
        end
        line([x(0), TOP - 14], [x(0), BOTTOM], stroke: @theme.faint, dashes: "4 3")
        text(x(0) + 6, TOP - 4, @picture.fetch("event"), fill: @theme.faint)
        (from..last).select { |second| (second % 5).zero? }.each do |second|
          text(x(second), BOTTOM + 20, "#{second} s", fill: @theme.faint, anchor: "middle")
        end
      end

      def curve(figures, stroke)
        points = figures.each_with_index.filter_map { |figure, index| figure && [x(from + index), y(figure), index] }
        points.each_cons(2) do |one, two|
          line(one, two, stroke: stroke, width: 2, dashes: (two[2] == one[2] + 1 ? nil : "2 4"))
        end
        points.each { |left, top| dot(left, top, stroke) }
      end

      # Names stand beside the ends of their curves, moved apart where they would touch.
      def names(series)
        below = -Float::INFINITY
        ends = series.each_with_index.map { |one, index| [y(one["figures"].compact.last), index] }
        ends.sort.each do |base, index|
          below = [base, below + APART].max
          text(RIGHT + 10, below + 4, series[index].fetch("name"), fill: colour(series[index], index), weight: 600)
        end
      end

      def log? = @picture.fetch("scale") == "log"
      def from = @picture.fetch("from")
      def last = from + @picture.fetch("series").map { |one| one["figures"].size }.max - 1
      def x(second) = LEFT + ((RIGHT - LEFT) * (second - from).fdiv(last - from))

      def y(value)
        share = log? ? Math.log([value, 1].max) / Math.log(LOG_TOP) : value / 100.0
        BOTTOM - ((BOTTOM - TOP) * share)
      end

      def label(value)
        return "#{value} %" unless log?

        value < 1000 ? "#{value} ms" : "#{value / 1000} s"
      end
    end
  end
end
