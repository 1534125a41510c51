# frozen_string_literal: true

module Bench
  # Latencies of an ideal server. Its workers take one request at a time from one queue, first come, first served, and
  # at no cost. A real server is compared with these latencies.
  module IdealQueue
    # Percentiles under the names that the load tool uses.
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
