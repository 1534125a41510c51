# frozen_string_literal: true

require_relative "../load"
require_relative "../psgi/fleet"
require_relative "usage"

module Bench
  module Growth
    # Uses a server for some time, and compares what its processes use before and after.
    class Run
      # Requests after which a worker is replaced.
      REQUESTS = 1000
      WORKERS = 4
      WARM_UP = 20_000 # requests
      WARM_HUPS = 20
      CLIENTS = 32
      # Seconds for all requests, and for all HUPs.
      LIMIT = 110
      # Parallel::Prefork, which the peers use, forks no worker for a second after one has died.
      PEERS = ["--err-respawn-interval=0"].freeze

      # One row. what: what has been done. usages: before and after.
      Row = Struct.new(:name, :what, :usages)

      def initialize(chosen, requests:, hups:, transport:)
        @chosen = chosen
        @requests = requests
        @hups = hups
        @transport = transport
      end

      # Yields a Row after the requests, and one after the HUPs.
      def measure(contestant)
        settings = Psgi::Settings.new(mode: :kept, workers: WORKERS, worker_requests: REQUESTS, connection_requests: 1,
                                      more: contestant.name == Psgi::OURS ? [] : PEERS)
        Psgi::Fleet.open(@chosen, contestant, settings, transport: @transport) do |fleet|
          send_requests(fleet, WARM_UP)
          send_hups(fleet, WARM_HUPS)
          usages = [Usage.of(fleet, WORKERS)]
          %i[send_requests send_hups].zip([@requests, @hups]) do |action, count|
            what = send(action, fleet, count)
            usages << Usage.of(fleet, WORKERS)
            yield Row.new(contestant.name, what, usages.last(2))
          end
        end
      end

      private

      # Half of them on new connections. Returns words for the table.
      def send_requests(fleet, count)
        results = [["--close"], []].map do |options|
          Load.run(fleet.address, "-c", CLIENTS, "-n", count / 2, *options,
                   wrap: ["timeout", "-s", "INT", (LIMIT / 2).to_s])
        end
        "#{results.sum(&:requests)} requests, #{results.sum(&:failed)} not ok"
      end

      # A HUP follows when the former one has replaced all workers. Returns words for the table.
      def send_hups(fleet, count)
        limit = fleet.now + LIMIT
        sent = 0
        while sent < count && fleet.now < limit
          former = fleet.workers
          Process.kill(:HUP, fleet.master)
          sent += 1
          fleet.wait { fleet.workers.size == WORKERS && !fleet.workers.intersect?(former) } ||
            raise(Psgi::Fleet::Failed, "HUP #{sent} does not replace all workers: #{fleet.last_lines}")
        end
        "#{sent} HUPs"
      end
    end
  end
end
