# frozen_string_literal: true

module Bench
  # The best result of servers that serve one request at a time: one queue for all of them, first come, first served,
  # without any cost. The difference to this result is what a real server loses.
  module IdealQueue
    # The names of the load tool.
    PERCENTILES = { "p50" => 0.5, "p90" => 0.9, "p99" => 0.99, "p999" => 0.999 }.freeze

    module_function

    # requests: [[time of arrival, duration], ...] in the order of arrival. Returns { percentile => time from arrival to
    # end }.
    def latencies(requests, servers)
      percentiles(times(requests, servers).sort)
    end

    # The time from arrival to end of each request, in the same order.
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
