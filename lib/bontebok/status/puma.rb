# frozen_string_literal: true

require_relative "snapshot"

module Bontebok
  module Status
    # The form of Puma.stats, for monitors that know Puma: the keys of Puma 7, which include those of Puma 6.
    #
    # Puma has a backlog for each worker. Here the workers share one queue: each worker gets its part of the requests
    # that wait, so that the sum is right. The generation is the phase.
    module Puma
      class << self
        # Returns a Hash as Puma.stats_hash does.
        def of(snapshot)
          body = snapshot.server[:mode] == "single" ? single(snapshot) : cluster(snapshot)
          { started_at: utc(snapshot.server[:started] || snapshot.time), **body, versions: versions(snapshot.server) }
        end

        private

        def single(snapshot)
          worker = snapshot.workers.first || { threads: [], connections: {}, requests: 0 }
          last_status(worker, backlogs(snapshot).first || 0)
        end

        def cluster(snapshot)
          phase = snapshot.server[:generation] || 0
          workers = snapshot.workers
          { workers: [snapshot.server[:workers] || 0, workers.size].max, phase: phase, booted_workers: workers.size,
            old_workers: workers.count { |worker| (worker[:generation] || phase) != phase },
            worker_status: workers.zip(backlogs(snapshot)).map { |worker, share| status(worker, share, snapshot) } }
        end

        def status(worker, backlog, snapshot)
          { started_at: utc(worker[:started] || snapshot.time), pid: worker[:pid],
            index: [worker[:number] - 1, 0].max, phase: worker[:generation] || snapshot.server[:generation] || 0,
            booted: true, last_checkin: utc(snapshot.time&.-(worker[:silent] || 0)),
            last_status: last_status(worker, backlog) }
        end

        # backlog_max and reactor_max are the largest values since the last call of Puma.stats. Nothing counts them
        # here, so these are the values of now.
        def last_status(worker, backlog)
          threads = worker[:threads].size
          busy = worker[:threads].count { |thread| Snapshot.busy?(thread) }
          { backlog: backlog, running: threads, pool_capacity: threads - busy, busy_threads: busy + backlog,
            backlog_max: backlog, max_threads: threads, requests_count: worker[:requests],
            reactor_max: worker[:connections].values_at(:header, :body).compact.sum }
        end

        # Each worker's part of the requests that wait.
        def backlogs(snapshot)
          count = snapshot.workers.size
          return [] if count.zero?

          share, rest = (snapshot.waiting[:requests] || 0).divmod(count)
          Array.new(count) { |i| i < rest ? share + 1 : share }
        end

        def versions(server)
          version, patchlevel = server[:ruby].to_s.match(/\A(\d[\w.]*?)(?:p(\d+))?\z/)&.captures
          { puma: "bontebok #{server[:version] || '?'}",
            ruby: { engine: "ruby", version: version, patchlevel: patchlevel&.to_i } }
        end

        def utc(time)
          Time.at([time, 0].max).utc.strftime("%Y-%m-%dT%H:%M:%SZ") if time
        end
      end
    end
  end
end
