# frozen_string_literal: true

require_relative "ideal_queue"

module Bench
  # The figures of an ideal queue for the load "70" of bench/tail. The queue gets as many requests per second as our
  # server, at random times. Each request takes the CPU time that our server and the load tool together need for it.
  module TailIdeal
    REQUESTS = 100_000

    module_function

    # cell: a TailCells::Cell. rate: requests per second. cpu: microseconds per request. Returns the figures of a row in
    # bench/tail, with latencies in ms.
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
