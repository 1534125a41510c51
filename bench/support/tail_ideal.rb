# frozen_string_literal: true

require_relative "ideal_queue"

module Bench
  # The result of an ideal queue for a cell of bench/tail at 70 %. The queue gets the same number of requests per
  # second, at random times. Each request takes a core for as long as our server and the load tool together.
  module TailIdeal
    REQUESTS = 100_000

    module_function

    # cell: a TailCells::Cell. rate: requests per second. cpu: microseconds per request. Returns the figures that
    # bench/tail shows of a run, with latencies in ms.
    def figures(cell, rate, cpu, cores)
      random = Random.new(1)
      at = 0
      requests = Array.new(REQUESTS) do
        at -= Math.log(1 - random.rand) * 1000 / rate
        [at, cpu / 1000.0 * cell.shares.sample(random: random)]
      end
      times = IdealQueue.times(requests, cores)
      { rate: rate, cpu: cpu, failed: 0, "mean" => times.sum / times.size, **IdealQueue.percentiles(times.sort) }
    end
  end
end
