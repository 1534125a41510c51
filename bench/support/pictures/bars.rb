# frozen_string_literal: true

require_relative "picture"

module Bench
  module Pictures
    # Figures of each server as bars, one below the other. The last one is the fullest.
    #
    #   unit     of all figures
    #   states   the names of the figures
    #   series   [{"name": ..., "figures": [one of each state]}, ...]
    class Bars < Picture
      LEFT = 180
      RIGHT = 720
      BAR = 15
      OPACITY = [0.4, 1].freeze

      private

      def draw
        series = @picture.fetch("series")
        step = (BOTTOM - TOP + 8).fdiv(series.size)
        series.each_with_index do |one, index|
          bars(one.fetch("name"), one.fetch("figures"), colour(one, index), TOP - 8 + (index * step))
        end
        legend(@picture.fetch("states").zip(OPACITY))
      end

      def bars(name, figures, fill, top)
        text(LEFT - 10, top + BAR + 4, name, anchor: "end", fill: fill, weight: 600)
        figures.zip(OPACITY).each_with_index do |(figure, opacity), index|
          base = top + (index * (BAR + 2))
          box(LEFT, base, width(figure), BAR, fill: fill, opacity: opacity)
          text(LEFT + width(figure) + 6, base + 12, "#{figure} #{@picture.fetch('unit')}", size: 12)
        end
      end

      def width(figure) = (RIGHT - LEFT) * figure.fdiv(most)
      def most = @picture.fetch("series").flat_map { |one| one.fetch("figures") }.max
    end
  end
end
