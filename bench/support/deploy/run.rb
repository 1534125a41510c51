# frozen_string_literal: true

require "tmpdir"
require_relative "../load"
require_relative "kinds"
require_relative "proxy"

module Bench
  module Deploys
    # The measurement of one kind. site: the Proxy::Site in front of the server, or nil. times: seconds that each deploy
    # took that was complete before the load ended. failed: deploys that failed. quiet: the Load::Result without
    # deploys.
    Row = Struct.new(:kind, :site, :mode, :result, :times, :failed, :quiet)

    # Starts a server, and measures the same load twice: without deploys, and with one deploy after the other.
    class Run
      OPTIONS = { "new" => ["--close"], "kept" => [] }.freeze
      WARM_UP = 1000 # requests
      QUIET = 100_000 # requests without deploys, at most
      PAUSE = 1 # seconds between the beginnings of two deploys, at least

      # app: the Application. rate: requests that are due per second; nil: as many as the server serves.
      def initialize(app:, requests:, connections:, rate:, transport:)
        @requests = requests
        @connections = connections
        @rate = rate ? ["--rate", rate] : []
        @app = app
        @transport = transport
      end

      # Returns a Row. Raises Failed if the server or the proxy does not start.
      def measure(kind, mode, site = nil)
        started(kind, site) do |server, address|
          quiet = load(address, mode, [@requests, QUIET].min)
          times = []
          failed = 0
          result = beside(-> { load(address, mode) }) do |still_running|
            began = now
            deployed = try { server.deploy }
            failed += 1 unless deployed
            times << (now - began) if deployed && still_running.call
          end
          Row.new(kind, site, mode, result, times, failed, quiet)
        end
      end

      private

      # Yields the server, and the address for the load. start_server and systemd listen before the server has loaded
      # the application. The warm-up waits for it.
      def started(kind, site)
        Dir.mktmpdir("bontebok-bench") do |dir|
          server = kind.new(Load.address(site ? "unix" : kind.transport || @transport, dir, "server"), dir, @app)
          proxy = Proxy.new(site, dir, server.address) if site
          [server, *proxy].each(&:start)
          address = (proxy || server).address
          load(address, "new", WARM_UP)
          yield server, address
        ensure
          [*proxy, *server].each(&:finish)
        end
      end

      def load(address, mode, requests = @requests)
        Load.run(address, "-c", @connections, "-n", requests, *@rate, *OPTIONS.fetch(mode))
      end

      # Repeats the block while the load runs. Returns the load's result.
      def beside(load)
        thread = Thread.new { load.call }
        at_intervals { yield thread.method(:alive?) } while thread.alive?
        thread.value
      end

      def at_intervals
        began = now
        yield
        rest = PAUSE - (now - began)
        sleep(rest) if rest.positive?
      end

      # False if the deploy fails. Its message is printed at once.
      def try
        yield
        true
      rescue Failed => e
        warn "a deploy has failed: #{e.message}"
        false
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
