# frozen_string_literal: true

require "bontebok/processes/generations/canary"
require_relative "../median"

module Bench
  # Simulated deploys with a canary. The requests are random, from a fixed seed, so each run prints the same figures.
  class CanarySimulation
    Group = Bontebok::Canary::Group

    # The canary is judged four times per second, as by Canary.
    LOOKS = 4
    MARGIN = 0.01

    # former, canary: the shares of errors. outage: seconds in which all requests fail, in the middle of a run.
    Kind = Struct.new(:former, :canary, :outage) do
      def same? = former == canary

      def good? = canary <= former + MARGIN

      def text = ("all requests fail for #{outage} s" if outage.positive?)
    end

    # errors: of the canary when it was judged worse, for each run in which that was before the end. late: runs in which
    # it was worse at the end. compared: runs in which a plain comparison, repeated from 200 requests on, finds it
    # worse.
    Result = Struct.new(:errors, :late, :compared) do
      def worse = errors.size + late

      def seen = errors.empty? ? "" : "#{Bench.median(errors).round} - #{errors.max}"
    end

    # As good as the former, as much worse as is allowed, and worse.
    KINDS = [*[0.0, 0.001, 0.01, 0.05, 0.2].flat_map { |share| [[share, share, 0], [share, share + MARGIN, 0]] },
             [0.001, 0.001, 10], [0.001, 0.011, 10], [0.0, 0.3, 0], [0.0, 0.1, 0], [0.001, 0.05, 0], [0.001, 0.03, 0],
             [0.05, 0.1, 0]].map { |numbers| Kind.new(*numbers) }.freeze

    def initialize(runs:, seconds: 300, rate: 60, share: 0.2)
      @runs = runs
      @seconds = seconds
      @rate = rate
      @share = share
    end

    def run(kind)
      @random = Random.new(27)
      result = Result.new([], 0, 0)
      @runs.times { add_run(kind, result) }
      result
    end

    private

    def add_run(kind, result)
      @canary = Group.new("canary", 1, 0, 0)
      @former = Group.new("former", 4, 0, 0)
      errors = nil
      compared = false
      (@seconds * LOOKS).times do |look|
        serve(kind, out: (look - (@seconds * LOOKS / 2)).between?(0, (kind.outage * LOOKS) - 1))
        compared ||= compared?
        errors ||= @canary.errors if Bontebok::Canary::SequentialTest.worse?(@canary, @former, MARGIN)
        break if errors && compared
      end
      note(result, errors, compared)
    end

    def note(result, errors, compared)
      result.compared += 1 if compared
      if errors
        result.errors << errors
      elsif compared?
        result.late += 1
      end
    end

    def compared?
      @canary.requests >= Bontebok::Canary::LEAST && @canary.share > @former.share + MARGIN
    end

    def serve(kind, out:)
      (@rate / LOOKS).times do
        group, share = @random.rand < @share ? [@canary, kind.canary] : [@former, kind.former]
        group.requests += 1
        group.errors += 1 if out || @random.rand < share
      end
    end
  end
end
