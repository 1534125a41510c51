# frozen_string_literal: true

require_relative "../aim"
require_relative "../load"
require_relative "../median"
require_relative "../process_group"

module Bench
  # CPU time per request of two servers, in alternating runs. Each run starts a new server. The place of a
  # process in memory changes its CPU time by up to 3 %.
  class CpuTime
    RUNS = 20
    WARM_UP = 20_000
    REQUESTS = 200_000
    CONNECTIONS = 32
    RATIO = 1.01

    # core: for the servers. dir: for logs and sockets.
    def initialize(dir, core:)
      @dir = dir
      @core = core
      @runs = 0
    end

    # contestants: { name => Proc that gets an address }, the one to compare with first.
    def report(contestants)
      times = of(contestants)
      puts "\nwhole server: CPU microseconds per request, medians of #{RUNS} alternating runs"
      times.each { |name, time| puts format("%-32s %10.3f", name, time) }
      before, now = times.values
      Bench.aim(format("at most %g times the CPU time of %s (%.4f)", RATIO, times.keys.first, now / before),
                now / before <= RATIO)
    end

    private

    # Returns { name => microseconds per request }: medians.
    def of(contestants)
      runs = Array.new(RUNS) { contestants.transform_values { |contestant| run(contestant) } }
      contestants.keys.to_h { |name| [name, Bench.median(runs.map { |times| times[name] })] }
    end

    def run(contestant)
      address = Load.address(:unix, @dir, "cpu#{@runs += 1}")
      server = start(contestant.call(address), address)
      Load.run(address, "-c", CONNECTIONS, "-n", WARM_UP)
      before = server.cpu_ns
      result = Load.run(address, "-c", CONNECTIONS, "-n", REQUESTS)
      (server.cpu_ns - before).fdiv(1000 * result.requests)
    ensure
      server&.finish
    end

    def start(contestant, address)
      log = File.join(@dir, "cpu.log")
      server = ProcessGroup.new(contestant.command, env: contestant.env, address: address, core: @core, log: log)
      server.ready? ? server : abort(File.read(log))
    end
  end
end
