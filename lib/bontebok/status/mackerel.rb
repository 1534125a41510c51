# frozen_string_literal: true

require_relative "rates"
require_relative "snapshot"

module Bontebok
  module Status
    # The form of a metric plugin of mackerel-agent: a line has a name, a value and seconds since 1970, with tabs
    # between them. The graphs `workers`, `req` and `bytes` have the names of mackerel-plugin-plack. Mackerel wants
    # differences of counters per minute. Without an earlier snapshot, these lines are left out, as such a plugin does
    # at its first run.
    module Mackerel
      PREFIX = "bontebok"
      # The first line of the answer to MACKEREL_AGENT_PLUGIN_META=1.
      HEADER = "# mackerel-agent-plugin"
      MINUTE = 60.0

      # { graph => [label, unit, [names of its metrics]] }
      GRAPHS = {
        "workers" => ["Threads", "integer", %w[busy_workers idle_workers]],
        "req" => ["Requests per minute", "float", %w[requests]],
        "bytes" => ["Kilobytes sent per minute", "float", %w[bytes_sent]],
        "status" => ["Responses per minute", "float", Snapshot::CLASSES],
        "waiting" => ["Waiting requests", "integer", %w[requests accept_queue]],
        "oldest" => ["Oldest waiting request (ms)", "float", %w[oldest]],
        "service_time" => ["Service time (ms)", "float", %w[p50 p95 p99]],
        "queue_time" => ["Queue time (ms)", "float", %w[p50 p95 p99]],
        "rejected" => ["Rejected requests per minute", "float", %w[rejected]],
        "memory" => %w[Memory bytes] + [%w[pss]]
      }.freeze

      class << self
        # Each line ends with a newline. An unknown value has no line.
        def lines(snapshot, earlier = nil)
          rates = Rates.new(snapshot, earlier)
          values = { **gauges(snapshot), **(rates.known? ? differences(rates) : {}) }.compact
          time = snapshot.time.to_i
          values.map { |name, value| "#{PREFIX}.#{name}\t#{number(value)}\t#{time}\n" }.join
        end

        # The graphs, for the answer to MACKEREL_AGENT_PLUGIN_META=1: a Hash for JSON, after the line HEADER.
        def definitions
          graphs = GRAPHS.to_h do |graph, (label, unit, names)|
            metrics = names.map { |name| { name: name, label: name.tr("_", " "), stacked: graph == "workers" } }
            ["#{PREFIX}.#{graph}", { label: "Bontebok: #{label}", unit: unit, metrics: metrics }]
          end
          { graphs: graphs }
        end

        private

        # The values of now. A thread here is what the plugin for Plack calls a worker.
        def gauges(snapshot)
          { **threads(snapshot), **waiting(snapshot), "memory.pss" => snapshot.pss }
        end

        def threads(snapshot)
          return {} if snapshot.unseen?

          { "workers.busy_workers" => snapshot.busy, "workers.idle_workers" => snapshot.threads - snapshot.busy }
        end

        def waiting(snapshot)
          requests, oldest = snapshot.waiting.values_at(:requests, :oldest)
          oldest ||= 0.0 if requests&.zero?
          { "waiting.requests" => requests, "waiting.accept_queue" => snapshot.accept_queue,
            "oldest.oldest" => oldest&.*(1000) }
        end

        def differences(rates)
          per_minute = MINUTE / rates.seconds
          classes = rates.growth_of(:responses)
          { "req.requests" => classes.values.sum * per_minute,
            "bytes.bytes_sent" => rates.growth(:bytes_out) / 1024 * per_minute,
            **classes.to_h { |name, growth| ["status.#{name}", growth * per_minute] },
            "rejected.rejected" => rates.growth_of(:rejected).values.sum * per_minute,
            **quantiles("service_time", rates.service_time), **quantiles("queue_time", rates.queue_time) }
        end

        def quantiles(graph, times)
          { 50 => 0.5, 95 => 0.95, 99 => 0.99 }.to_h do |name, share|
            ["#{graph}.p#{name}", times.quantile(share)&.*(1000)]
          end
        end

        def number(value)
          value.is_a?(Float) ? value.round(3).to_s : value.to_s
        end
      end
    end
  end
end
