# frozen_string_literal: true

require_relative "median"

module Bench
  # Medians of alternating rounds. Distances and ratios are computed within each round, because the machine's speed
  # drifts between rounds but hardly within a round.
  class Figures
    # cpu_us, load_us: CPU microseconds per request of the server and of the load tool. rate: requests per second.
    Run = Struct.new(:cpu_us, :load_us, :rate, :errors, keyword_init: true)

    def initialize
      @runs = Hash.new { |hash, key| hash[key] = {} }
    end

    def add(cell, name, round, run)
      @runs[[cell, name]][round] = run
    end

    def cpu(cell, name) = Bench.median(good(cell, name).values.map(&:cpu_us))
    def least(cell, name) = good(cell, name).values.map(&:cpu_us).min
    def load(cell, name) = Bench.median(good(cell, name).values.map(&:load_us))
    def rate(cell, name) = Bench.median(good(cell, name).values.map(&:rate))
    def failed?(cell, name) = good(cell, name).empty?
    def distance(cell, name, from) = Bench.median(pairs(cell, name, from).map { |one, other| one - other })
    def ratio(cell, name, to) = Bench.median(pairs(cell, name, to).map { |one, other| one / other })

    private

    # [cpu_us of name, cpu_us of other] for each round in which both had no errors.
    def pairs(cell, name, other)
      others = good(cell, other)
      good(cell, name).filter_map { |round, run| [run.cpu_us, others[round].cpu_us] if others[round] }
    end

    def good(cell, name) = @runs[[cell, name]].select { |_round, run| run.errors.zero? }
  end
end
