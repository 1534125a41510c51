# frozen_string_literal: true

require_relative "ideal_queue"
require_relative "median"

module Bench
  # Requests that compute share the cores with the load tool and with what their server does beside them. An ideal queue
  # whose requests take so much longer is the best that there can be on a machine.
  class Beside
    def initialize
      @costs = Hash.new { |hash, key| hash[key] = [] }
    end

    # Of one round. planned: as for IdealQueue, in ms. result: the load tool's. server_ns: CPU that the server has used.
    def note(cell, planned, result, server_ns)
      own = planned.sum { |_at, takes| takes }
      @costs[cell] << ((((server_ns / 1e6) - own) / result.requests) + (result.cpu_us / 1000))
    end

    # As IdealQueue's, by the median of the rounds; nil when there was none.
    def latencies(cell, planned, servers)
      cost = Bench.median(@costs[cell])
      cost && IdealQueue.latencies(planned.map { |at, takes| [at, takes + cost] }, servers)
    end
  end
end
