# frozen_string_literal: true

module Bench
  module Recycle
    # What happens to a server while it serves. The superclass is the undisturbed server.
    class Disturbance
      # For the table.
      def title = "none"
      # Words for --disturbances.
      def name = title.split(/\W/).first.downcase
      # Settings (see Psgi::Settings) that differ.
      def settings = {}
      # Seconds between two strikes; nil: the server disturbs itself.
      def interval = nil
      # Whether the server must have workers.
      def for_workers? = false
      # Whether no request may be lost.
      def harmless? = true

      # Returns the number of connections that the strike breaks.
      def strike(_fleet) = 0
    end

    # start_server starts a new server, and then stops the old one with TERM.
    class StartServer < Disturbance
      def title = "start_server gets HUP every second"
      def name = "start_server"
      def settings = { starter: true }
      def interval = 1

      def strike(fleet)
        Process.kill(:HUP, fleet.first)
        0
      end
    end

    # Each worker is replaced after some requests.
    class Requests < Disturbance
      COUNT = 100

      def title = "--max-reqs-per-child #{COUNT}"
      def name = "requests"
      def settings = { worker_requests: COUNT }
      def for_workers? = true
    end

    # The master replaces all workers.
    class Hup < Disturbance
      def title = "HUP to the master every 0.5 s"
      def interval = 0.5
      def for_workers? = true

      def strike(fleet)
        Process.kill(:HUP, fleet.master)
        0
      end
    end

    # A worker dies, and its connections end.
    class Kill < Disturbance
      def title = "kill -9 of a worker every 0.3 s"
      def interval = 0.3
      def for_workers? = true
      def harmless? = false

      # Kills the oldest worker. A worker that was forked just now still has the sockets of its master.
      def strike(fleet)
        pid = fleet.workers.first or return 0
        broken = 0
        fleet.kill_after(pid) { broken = fleet.connections(pid) }
        broken
      end
    end

    DISTURBANCES = [Disturbance, StartServer, Requests, Hup, Kill].map(&:new).freeze
  end
end
