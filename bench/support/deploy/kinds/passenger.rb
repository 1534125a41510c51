# frozen_string_literal: true

require "fileutils"
require "open3"
require_relative "../kind"

module Bench
  module Deploys
    # `passenger-config restart-app` to Passenger Standalone, from Debian's package. Its queue has room for all requests
    # of the load. By default it answers 503 when 100 requests wait. Rolling restarts are a part of Passenger's
    # Enterprise edition, which is not measured.
    class Passenger < Kind
      NAME = "passenger restart-app"
      WORKERS = 2
      QUEUE = 100_000

      def contestant
        host, port = @address.split(":")
        where = unix? ? ["--socket", @address] : ["--address", host, "--port", port]
        FileUtils.ln_sf(@app.rackup, File.join(directory, "config.ru"))
        Contestants.peer(name, ["passenger", "start", directory, "--engine", "builtin", *where,
                                "--environment", "production", "--min-instances", WORKERS.to_s,
                                "--max-pool-size", WORKERS.to_s, "--max-request-queue-size", QUEUE.to_s,
                                "--instance-registry-dir", @dir, "--log-file", "/dev/stdout"])
                   .tap { |passenger| passenger.command.shift(Contestants.bundled.size) }
      end

      def start
        super
        wait("#{WORKERS} processes") { processes.size == WORKERS }
      end

      def deploy
        former = processes
        passenger("passenger-config", "restart-app", directory)
        wait("#{WORKERS} new processes") { (processes - former).size == WORKERS }
      end

      private

      def directory = File.join(@dir, "app").tap { |path| FileUtils.mkdir_p(path) }
      # The identities of the processes that serve.
      def processes = passenger("passenger-status", "--show=xml").scan(%r{<gupid>(.*?)</gupid>}).flatten

      def passenger(*command)
        Open3.capture2e({ "PASSENGER_INSTANCE_REGISTRY_DIR" => @dir }, *command).first
      end
    end
  end
end
