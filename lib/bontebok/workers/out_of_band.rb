# frozen_string_literal: true

require_relative "collector"

module Bontebok
  # The work that a serving process does between two requests, when it has nothing else to do: the hook out_of_band, and
  # then, with OobGC, the collection of garbage. For Lanes, which calls #run when the core reports such a moment.
  class OutOfBand
    # If too many other workers do such work (OutOfBandTurns), #run is wanted again after this many requests.
    SOON = 1

    class << self
      def wanted?(config)
        config[:oob_gc] || config.hooks.any?(:out_of_band)
      end
    end

    # worker: a Hooks::Worker. turns: OutOfBandTurns; nil: there are no other workers.
    def initialize(config, worker, log:, turns: nil, collector: Collector.new)
      @config = config
      @worker = worker
      @log = log
      @turns = turns
      @collector = collector
    end

    # Call it before the first request. Returns the number of requests until #run is wanted for the first time; 0:
    # never. The number is random, so that workers that start together do not do this work at the same moment.
    def begin
      return 0 unless OutOfBand.wanted?(@config)

      @collector.postpone_major if @config[:oob_gc]
      rand(1..@config.requests_per_gc)
    end

    # Returns the number of requests until #run is wanted again.
    def run
      return SOON unless @turns.nil? || @turns.take

      begin
        @config.hooks.attempt(:out_of_band, @worker, log: @log)
        @collector.collect if @config[:oob_gc]
      ensure
        @turns&.give_back
      end
      @config.requests_per_gc
    end
  end
end
