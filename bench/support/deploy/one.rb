# frozen_string_literal: true

require "tmpdir"
require_relative "../load"
require_relative "kinds"
require_relative "run"

module Bench
  module Deploys
    # Runs a server under a constant load, with one deploy.
    class One
      # Seconds of the load after which the deploy begins.
      STRIKE = 5
      CONNECTIONS = 64
      WARM_UP = 200 # requests

      # seconds: the load tool's lines, a Hash for each second. took: seconds of the deploy.
      Seen = Struct.new(:seconds, :took) do
        def requests = seconds.sum { |second| second["requests"] }
        def lost = seconds.sum { |second| second["errors"].values.sum }
        def slowest = worst(seconds.drop(STRIKE))
        def slowest_before = worst(seconds.take(STRIKE))
        # In milliseconds. nil: no request was ok in this second.
        def slowest_by_second = seconds.map { |second| milliseconds(second)&.round(1) || "-" }

        private

        def worst(some) = some.filter_map { |second| milliseconds(second) }.max || Float::NAN
        def milliseconds(second) = second["latency_us"]["max"]&.fdiv(1000)
      end

      # app: the Application. mode: "new" or "kept" connections. timeout: in seconds, of one request.
      def initialize(app:, rate:, seconds:, timeout:, mode:, transport:)
        @app = app
        @load = ["-c", CONNECTIONS, "-d", seconds, "--rate", rate, "--timeout", timeout, *Run::OPTIONS.fetch(mode)]
        @transport = transport
      end

      # Returns a Seen. Raises Failed if the server does not start or the deploy fails.
      def measure(kind)
        Dir.mktmpdir("bontebok-bench") do |dir|
          File.chmod(0o755, dir) # Passenger's processes may run as another user.
          server = kind.new(Load.address(kind.transport || @transport, dir, "server"), dir, @app)
          server.start
          Load.run(server.address, "-c", 2, "-n", WARM_UP, "--close")
          load = Thread.new { Load.timeline(server.address, *@load) }
          sleep(STRIKE)
          took = seconds { server.deploy }
          Seen.new(load.value, took)
        ensure
          server&.finish
        end
      end

      private

      def seconds
        began = now
        yield
        now - began
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
