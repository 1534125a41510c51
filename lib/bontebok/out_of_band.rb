# frozen_string_literal: true

require_relative "collector"

module Bontebok
  # What a process that serves does between two requests, when it has nothing else to do: the hook out_of_band, and
  # then, with OobGC, the collection of garbage. For Lanes, whose lanes know the moment.
  class OutOfBand
    # worker: a Hooks::Worker.
    def initialize(config, worker, log:, collector: Collector.new)
      @config = config
      @worker = worker
      @log = log
      @collector = collector
    end

    # Call it before the first request. Returns the number of requests until #run is wanted for the first time; 0:
    # never. At random, so that workers that start together do not step aside together.
    def begin
      return 0 unless wanted?

      @collector.postpone_major if @config[:oob_gc]
      rand(1..@config.requests_per_gc)
    end

    # Returns the number of requests until it is wanted again.
    def run
      @config.hooks.attempt(:out_of_band, @worker, log: @log)
      @collector.collect if @config[:oob_gc]
      @config.requests_per_gc
    end

    private

    def wanted?
      @config[:oob_gc] || @config.hooks.any?(:out_of_band)
    end
  end
end
