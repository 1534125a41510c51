# frozen_string_literal: true

require_relative "ideal_queue"
require_relative "median"

module Bench
  # Requests that compute share the cores with the load tool and with what their server does beside them. An ideal queue
  # whose requests take so much longer is the best that there can be on a machine.
  class Beside
    def initialize
      @rounds = Hash.new { |hash, key| hash[key] = [] }
    end

    # Of one round. result: the load tool's. server_ns: CPU that the server has used.
    def note(cell, result, server_ns) = @rounds[cell] << [result, server_ns]

    # As IdealQueue's, by the median of the rounds; nil when there was none. planned: in ms.
    def latencies(cell, planned, servers)
      own = planned.sum { |_at, takes| takes }
      cost = Bench.median(@rounds[cell].map do |result, server_ns|
        (((server_ns / 1e6) - own) / result.requests) + (result.cpu_us / 1000)
      end)
      cost && IdealQueue.latencies(planned.map { |at, takes| [at, takes + cost] }, servers)
    end
  end
end
