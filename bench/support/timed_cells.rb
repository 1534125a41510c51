# frozen_string_literal: true

require "etc"

module Bench
  # The cells of bench/mixed: connections, and requests to the application timed.ru.
  module TimedCells
    # usual: milliseconds of most requests. rare: milliseconds of one request in 100, or nil.
    Work = Struct.new(:name, :how, :workers, :connections, :load, :usual, :rare, keyword_init: true) do
      def rate = load * workers * 1000 / (rare ? ((usual * 99) + rare) / 100.0 : usual)
      def path = "/#{how}/#{usual}"
      def also = rare ? ["--also", "0.01:/#{how}/#{rare}"] : []
    end
    SLEEP = Work.new(name: "sleep", how: "sleep", workers: 4, connections: 64, load: 0.7, usual: 1, rare: 100)
    BURN = Work.new(**SLEEP.to_h, name: "burn", how: "burn", workers: Etc.nprocessors)
    SHORT = Work.new(name: "short", how: "sleep", workers: 4, connections: 8, load: 0.54, usual: 0.9)

    Cell = Struct.new(:work, :transport, :mode) do
      def to_s = "#{work.name}-#{transport}-#{mode}"
      def closing = mode == :close ? ["--close"] : []
    end
    CELLS = { SLEEP => %i[kept close], BURN => %i[kept close], SHORT => %i[kept] }.flat_map do |work, modes|
      %i[unix tcp].flat_map { |transport| modes.map { |mode| Cell.new(work, transport, mode) } }
    end
  end
end
