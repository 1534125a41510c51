# frozen_string_literal: true

require_relative "collector"

module Bontebok
  # The work that a process does between two requests: the hook out_of_band, and with oob_gc a garbage collection. The
  # class Lanes calls #run_in when the core reports that the work is due.
  class OutOfBand
    # If too many other workers are out of band (OutOfBandTurns), Lanes calls #run_in again after this many requests.
    SOON = 1

    def self.wanted?(config)
      config[:oob_gc] || config.hooks.any?(:out_of_band)
    end

    # worker: a Hooks::Worker. turns: OutOfBandTurns; nil: there are no other workers.
    def initialize(config, worker, log:, turns: nil, collector: Collector.new)
      @config = config
      @worker = worker
      @log = log
      @turns = turns
      @collector = collector
    end

    # Called before the first request. Returns the number of requests until the first call of #run; 0: #run is never
    # called. The number is random, so that workers that start together do not do this work at the same moment.
    def begin
      return 0 unless OutOfBand.wanted?(@config)

      @collector.postpone_major if @config[:oob_gc]
      rand(1..@config.requests_per_gc)
    end

    # Calls #run, and tells the Core::Worker when the next run is due: after SOON requests if this run raises.
    def run_in(core)
      requests = SOON
      requests = run
    ensure
      core.out_of_band_after(requests)
    end

    # Returns the number of requests until the next call of #run.
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
