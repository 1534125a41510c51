# frozen_string_literal: true

module Bench
  # The best that servers of one request at a time can do: one queue for all of them, first come, first served, at no
  # cost. What a real server needs beyond that, it has lost itself.
  module IdealQueue
    # As the load tool names them.
    PERCENTILES = { "p50" => 0.5, "p90" => 0.9, "p99" => 0.99, "p999" => 0.999 }.freeze

    module_function

    # requests: [[when it comes, how long it takes], ...] in the order of their coming. Returns { percentile => time
    # from its coming to its end }.
    def latencies(requests, servers)
      percentiles(times(requests, servers).sort)
    end

    # The same time of each request, in the same order.
    def times(requests, servers)
      free_at = Array.new(servers, 0)
      requests.map do |comes, takes|
        server = free_at.each_index.min_by { |index| free_at[index] }
        free_at[server] = [free_at[server], comes].max + takes
        free_at[server] - comes
      end
    end

    def percentiles(sorted)
      PERCENTILES.transform_values { |fraction| sorted[(fraction * sorted.size).ceil - 1] }
    end
  end
end
