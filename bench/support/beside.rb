# frozen_string_literal: true

require_relative "ideal_queue"
require_relative "median"

module Bench
  # Latencies of an ideal queue for requests that compute. On a real machine, these requests share the cores with the
  # load tool and with the server's own work. Therefore each request in this queue also takes the CPU time that the load
  # tool and the server's own work need for it. These latencies are the best that the machine can reach.
  class Beside
    def initialize
      @rounds = Hash.new { |hash, key| hash[key] = [] }
    end

    # Adds one round. result: a Load::Result. server_ns: CPU nanoseconds of the server in this round.
    def note(cell, result, server_ns) = @rounds[cell] << [result, server_ns]

    # The result of IdealQueue.latencies, with the median cost of the rounds added to each request; nil without a round.
    # planned: [[due time, duration], ...] in ms.
    def latencies(cell, planned, servers)
      own = planned.sum { |_at, takes| takes }
      cost = Bench.median(@rounds[cell].map do |result, server_ns|
        (((server_ns / 1e6) - own) / result.requests) + (result.cpu_us / 1000)
      end)
      cost && IdealQueue.latencies(planned.map { |at, takes| [at, takes + cost] }, servers)
    end
  end
end
