# frozen_string_literal: true

require_relative "../fields"
require_relative "../figures"
require_relative "../load"
require_relative "../process_group"
require_relative "nginx"
require_relative "probe"
require_relative "settings"

module Bench
  module Psgi
    # The running servers of one transport (see Cell) and mode. Each is frozen (SIGSTOP) except while it is measured.
    class Servers
      CORE = 1
      WARM_UP = 2000
      # The fields besides Host, by the number of all fields.
      FIELDS = { 1 => [], 12 => Fields::BROWSER }.freeze
      # Seconds for one request.
      TIMEOUT = 5

      # own: the server's address. nginx: in front of the server, or nil. fault: why the server cannot keep connections,
      # in the words of Probe.
      Server = Struct.new(:group, :own, :nginx, :fault, keyword_init: true) do
        # The address for the load.
        def address = nginx ? nginx.address : own

        def finish
          nginx&.finish
          group.finish
        end
      end

      # Starts the contestants, calls the block with a Servers, and ends them. dir: for sockets and logs.
      def self.open(chosen, dir, transport, mode, workers)
        servers = new(dir, transport, Settings.new(mode: mode, workers: workers))
        chosen.each { |contestant| servers.start(contestant, chosen.env(contestant)) }
        yield servers
      ensure
        servers&.finish
      end

      def initialize(dir, transport, settings)
        @dir = dir
        @transport = transport
        @settings = settings
        @servers = {}
      end

      def names = @servers.keys

      def start(contestant, env)
        name = "#{@transport}-#{@settings.mode}-#{contestant.name}"
        address = Load.address(behind_nginx? ? "unix" : @transport, @dir, name)
        log = File.join(@dir, "#{name}.log")
        group = ProcessGroup.new(contestant.command_on(address, @settings),
                                 env: env, address: address, core: CORE, log: log)
        @servers[contestant.name] = server = Server.new(group: group, own: address)
        return leave_out(contestant.name, log) unless group.ready?

        prepare(server, name)
        group.pause
      end

      # A Figures::Run, or the reason why there is none.
      def measure(name, cell, seconds)
        server = @servers.fetch(name)
        reason = cell.reason(server.fault)
        return reason if reason

        server.group.resume
        run(server, cell, seconds)
      ensure
        server.group.pause
      end

      def finish
        @servers.each_value(&:finish)
      end

      private

      def leave_out(name, log)
        @servers.delete(name).finish
        puts "left out: #{name} does not start on #{@transport}: #{File.read(log).lines.last(3).join.strip}"
      end

      def behind_nginx? = @transport == Cells::NGINX

      def prepare(server, name)
        server.fault = Probe.new(server.own, @settings.least_workers).fault if @settings.mode == :kept
        server.nginx = Nginx.new(File.join(@dir, "#{name}-nginx"), @settings.mode, server.own) if behind_nginx?
        warm_up(server) unless server.fault == Probe::CLOSES
      end

      def warm_up(server)
        closing = @settings.mode == :close && !behind_nginx? ? ["--close"] : []
        Load.run(server.address, "-c", 1, "-n", WARM_UP, *closing, fields: FIELDS.fetch(12))
      end

      def run(server, cell, seconds)
        before = server.group.cpu_ns
        result = Load.run(server.address, "-c", cell.clients, "-d", seconds, "--timeout", TIMEOUT, *cell.closing,
                          fields: FIELDS.fetch(cell.fields))
        cpu = (server.group.cpu_ns - before) / 1000.0 / [result.requests, 1].max
        Figures::Run.new(cpu_us: cpu, load_us: result.cpu_us, rate: result.rate,
                         errors: result.failed + (result.requests.zero? ? 1 : 0))
      end
    end
  end
end
