# frozen_string_literal: true

require_relative "../crowd"
require_relative "../load"
require_relative "../median"
require_relative "../psgi/probe"
require_relative "question"

module Bench
  module Waits
    # A connection that is idle should cost memory, and no time of others.
    class Idle < Question
      CONNECTIONS = 10_000
      ROUNDS = 5
      SECONDS = 0.5
      CLIENTS = 32
      SHARE = 0.9
      PATIENCE = 20 # seconds
      MODES = { "new" => ["--close"], "kept" => [] }.freeze

      # rates: { mode => [[rate without, rate with idle connections] of each round] }. lost: idle connections that the
      # server has closed. failed: requests that were not ok.
      Result = Struct.new(:rates, :lost, :failed) do
        # [rate without, rate with them, share that is left], medians. A share is that of one round, because the speed
        # of the machine drifts.
        def figures(mode)
          rounds = rates.fetch(mode)
          [*rounds.transpose.map { |rates| Bench.median(rates) },
           Bench.median(rounds.map { |without, with| with / without })]
        end
      end

      def title
        "#{CONNECTIONS} idle connections on #{WORKERS} workers. Requests per second of #{CLIENTS} other clients " \
          "without them and with them, medians of #{ROUNDS} rounds"
      end

      def columns
        [*MODES.keys.flat_map { |mode| ["#{mode}: without", "with", "share"] }, "idle connections lost", "not ok"]
      end

      private

      # A Result, or why there is none.
      def measure(fleet, _variant)
        fault = Psgi::Probe.new(fleet.address, WORKERS).fault
        return fault if fault

        @lost = @failed = 0
        rounds = Array.new(ROUNDS) { |round| round(fleet.address, "127.0.1.#{round + 1}") }
        Result.new(MODES.keys.zip(rounds.transpose).to_h, @lost, @failed)
      end

      # [rate without, rate with idle connections] for each mode. The rate without them is the mean of a measurement
      # before and one after.
      def round(address, source)
        before = rates(address)
        crowd = Crowd.new(address, source: source)
        gather(crowd)
        with = rates(address)
        @lost += crowd.lost.first
        crowd.leave
        before.zip(rates(address)).map { |pair| pair.sum / 2 }.zip(with)
      ensure
        crowd&.leave
      end

      def gather(crowd)
        gathering = Thread.new { crowd.idle(CONNECTIONS) }
        gathering.report_on_exception = false
        return if gathering.join(PATIENCE)

        gathering.kill.join
        raise Psgi::Fleet::Failed, "#{CONNECTIONS} clients have no response each within #{PATIENCE} s"
      rescue SystemCallError, EOFError => e
        raise Psgi::Fleet::Failed, "a client has no response: #{e.message}"
      end

      def rates(address)
        MODES.values.map do |options|
          result = Load.run(address, "-c", CLIENTS, "-d", SECONDS, *options)
          @failed += result.failed
          result.rate
        end
      end

      def values(result, _variant)
        return [result, *Array.new(columns.size - 1, "")] if result.is_a?(String)

        figures = MODES.keys.map { |mode| result.figures(mode) }
        [*figures.flat_map { |without, with, share| [without.round, with.round, format("%.2f", share)] },
         result.lost, result.failed]
      end

      def judge(results)
        results.each do |result|
          share = result.is_a?(String) ? 0 : MODES.keys.map { |mode| result.figures(mode).last }.min
          Bench.aim(format("at least %.2f of the rate is left (%.2f)", SHARE, share), share >= SHARE)
          Bench.aim("no idle connection is closed, each request is answered",
                    !result.is_a?(String) && [result.lost, result.failed].all?(&:zero?))
        end
      end
    end
  end
end
