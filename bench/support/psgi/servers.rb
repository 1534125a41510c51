# frozen_string_literal: true

require_relative "../fields"
require_relative "../figures"
require_relative "../load"
require_relative "../process_group"
require_relative "probe"

module Bench
  module Psgi
    # The running servers of one transport and mode. Each is frozen (SIGSTOP) except while it is measured.
    class Servers
      CORE = 1
      WARM_UP = 2000
      # The fields besides Host, by the number of all fields.
      FIELDS = { 1 => [], 12 => Fields::BROWSER }.freeze
      # Seconds for one request.
      TIMEOUT = 5

      # fault: why the server cannot keep connections, in the words of Probe.
      Server = Struct.new(:group, :address, :fault, keyword_init: true)

      # Starts the contestants, calls the block with a Servers, and ends them. dir: for sockets and logs.
      def self.open(chosen, dir, transport, mode)
        servers = new(dir, transport, mode)
        chosen.each { |contestant| servers.start(contestant, chosen.env(contestant)) }
        yield servers
      ensure
        servers&.finish
      end

      def initialize(dir, transport, mode)
        @dir = dir
        @transport = transport
        @mode = mode
        @servers = {}
      end

      def names = @servers.keys

      def start(contestant, env)
        name = "#{@transport}-#{@mode}-#{contestant.name}"
        address = Load.address(@transport, @dir, name)
        log = File.join(@dir, "#{name}.log")
        group = ProcessGroup.new(contestant.command_on(address, @mode),
                                 env: env, address: address, core: CORE, log: log)
        @servers[contestant.name] = server = Server.new(group: group, address: address)
        return leave_out(contestant.name, log) unless group.ready?

        server.fault = Probe.new(address).fault if @mode == :kept
        warm_up(server)
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
        @servers.each_value { |server| server.group.finish }
      end

      private

      def leave_out(name, log)
        @servers.delete(name).group.finish
        puts "left out: #{name} does not start on #{@transport}: #{File.read(log).lines.last(3).join.strip}"
      end

      def warm_up(server)
        return if server.fault == Probe::CLOSES

        Load.run(server.address, "-c", 1, "-n", WARM_UP, *(["--close"] if @mode == :close), fields: FIELDS.fetch(12))
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
