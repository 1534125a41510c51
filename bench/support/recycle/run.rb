# frozen_string_literal: true

require_relative "../load"
require_relative "../psgi/fleet"

module Bench
  module Recycle
    # The measurement of one server with one disturbance. mode: "new" or "kept". result: a Load::Result. strikes: how
    # often the disturbance struck. broken: connections that the strikes broke.
    Row = Struct.new(:mode, :disturbance, :name, :result, :strikes, :broken, keyword_init: true) do
      # Requests without a response, or with an error status.
      def lost = result.failed - result.errors.fetch("local")
    end

    # Starts a server, and sends requests while a disturbance strikes.
    class Run
      MODES = { "new" => :close, "kept" => :kept }.freeze
      WARM_UP = 1000 # requests
      QUIET = 20_000 # requests without a disturbance, at most
      SECONDS = 5 # the least time of a load with strikes
      LIMIT = 20 # seconds that a load may take
      TIMEOUT = 5 # seconds for one request
      # Parallel::Prefork, which the peers use, forks no worker for a second after one has died.
      PEERS = ["--err-respawn-interval=0"].freeze
      # Starlet's default: it closes each connection. It serves nobody else while it keeps one.
      CONNECTION_REQUESTS = 1

      def initialize(chosen, workers:, clients:, requests:, transport:)
        @chosen = chosen
        @workers = workers
        @clients = clients
        @requests = requests
        @transport = transport
        @rates = {}
      end

      # Returns a Row. Raises Psgi::Fleet::Failed if the server does not start.
      def measure(contestant, mode, disturbance)
        Psgi::Fleet.open(@chosen, contestant, settings(contestant, mode, disturbance), transport: @transport) do |fleet|
          load(fleet, "new", WARM_UP)
          fleet.note_idle if disturbance.for_workers?
          row = Row.new(mode: mode, disturbance: disturbance, name: contestant.name, strikes: 0, broken: 0)
          row.result = beside(disturbance, fleet, row) { load(fleet, mode, count(row)) }
          @rates[[mode, row.name]] ||= row.result.rate
          row
        end
      end

      private

      def settings(contestant, mode, disturbance)
        Psgi::Settings.new(mode: MODES.fetch(mode), workers: @workers, connection_requests: CONNECTION_REQUESTS,
                           more: contestant.name == Psgi::OURS ? [] : PEERS, **disturbance.settings)
      end

      def load(fleet, mode, requests)
        Load.run(fleet.address, "-c", @clients, "-n", requests, "--timeout", TIMEOUT, *(["--close"] if mode == "new"),
                 wrap: ["timeout", "-s", "INT", LIMIT.to_s])
      end

      # The first row of a server is without a disturbance, and shows how many requests are enough.
      def count(row)
        rate = @rates[[row.mode, row.name]]
        return [@requests, QUIET].min unless rate
        return @requests unless row.disturbance.interval

        [@requests, (rate * SECONDS).ceil].max
      end

      # Strikes while the block runs. Returns the block's result.
      def beside(disturbance, fleet, row, &block)
        load = Thread.new(&block)
        due = now
        while disturbance.interval && !load.join([(due += disturbance.interval) - now, 0].max)
          row.broken += disturbance.strike(fleet)
          row.strikes += 1
        end
        load.value
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
