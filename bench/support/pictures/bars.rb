# frozen_string_literal: true

require_relative "picture"

module Bench
  module Pictures
    # A bar for each server, with its figure.
    #
    #   unit     of the figures
    #   series   [{"name": ..., "figure": ..., "remark": ...}, ...]
    class Bars < Picture
      LEFT = 190
      FATTEST = 30

      private

      def draw
        series = @picture.fetch("series")
        step = (BOTTOM - TOP).fdiv(series.size)
        series.each_with_index { |one, index| bar(one, colour(one, index), TOP + (step * index), step) }
      end

      def bar(one, fill, top, step)
        height = [step * 0.6, FATTEST].min
        width = (RIGHT - LEFT) * one.fetch("figure").fdiv(most)
        base = top + ((step + height) / 2) - (height / 2) + 5
        text(LEFT - 10, base, one.fetch("name"), anchor: "end", fill: fill, weight: 600)
        box(LEFT, top + ((step - height) / 2), width, height, fill: fill)
        text(LEFT + width + 8, base, [one.fetch("figure"), @picture.fetch("unit"), *one["remark"]].join(" "))
      end

      def most = @picture.fetch("series").map { |one| one.fetch("figure") }.max
    end
  end
end
