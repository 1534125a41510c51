# frozen_string_literal: true

require_relative "ideal_queue"
require_relative "median"

module Bench
  # An ideal queue for requests that compute. Such requests share the cores with the load tool, and with the other work
  # of their server. Each request is made longer by the CPU time of the load tool and of that other work. The result is
  # the best one that this machine can have.
  class Beside
    def initialize
      @rounds = Hash.new { |hash, key| hash[key] = [] }
    end

    # Adds one round. result: the load tool's. server_ns: CPU that the server has used.
    def note(cell, result, server_ns) = @rounds[cell] << [result, server_ns]

    # IdealQueue's latencies, with the median of the rounds; nil if there was no round. planned: in ms.
    def latencies(cell, planned, servers)
      own = planned.sum { |_at, takes| takes }
      cost = Bench.median(@rounds[cell].map do |result, server_ns|
        (((server_ns / 1e6) - own) / result.requests) + (result.cpu_us / 1000)
      end)
      cost && IdealQueue.latencies(planned.map { |at, takes| [at, takes + cost] }, servers)
    end
  end
end
