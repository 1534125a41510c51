# frozen_string_literal: true

module Bench
  # Medians of alternating rounds. Distances are medians of the differences within a round: the machine's speed drifts
  # from one round to the next, hardly within one.
  class Figures
    Run = Struct.new(:cpu_us, :rate, :errors, keyword_init: true)

    def initialize
      @runs = Hash.new { |hash, key| hash[key] = {} }
    end

    def add(cell, name, round, run)
      @runs[[cell, name]][round] = run
    end

    def cpu(cell, name) = median(good(cell, name).values.map(&:cpu_us))
    def rate(cell, name) = median(good(cell, name).values.map(&:rate))
    def failed?(cell, name) = good(cell, name).empty?

    def distance(cell, name, from)
      zero = good(cell, from)
      median(good(cell, name).filter_map { |round, run| run.cpu_us - zero[round].cpu_us if zero[round] })
    end

    private

    def good(cell, name) = @runs[[cell, name]].select { |_round, run| run.errors.zero? }

    def median(values)
      return nil if values.empty?

      sorted = values.sort
      (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
    end
  end
end
