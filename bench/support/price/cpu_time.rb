# frozen_string_literal: true

require_relative "../aim"
require_relative "../load"
require_relative "../median"
require_relative "../process_group"

module Bench
  # CPU time per request of two servers. Both run all the time, and one of them is frozen while the other is measured.
  # So each round compares them within seconds.
  class CpuTime
    ROUNDS = 20
    REQUESTS = 100_000
    CONNECTIONS = 32
    RATIO = 1.01

    # core: for the servers. dir: for logs and sockets.
    def initialize(dir, core:)
      @dir = dir
      @core = core
    end

    # contestants: { name => Proc that gets an address }, the one to compare with first.
    def report(contestants)
      times = of(contestants)
      puts "\nwhole server: CPU microseconds per request, medians of #{ROUNDS} alternating rounds"
      times.each { |name, time| puts format("%-32s %10.3f", name, time) }
      before, now = times.values
      Bench.aim(format("at most %g times the CPU time of %s (%.4f)", RATIO, times.keys.first, now / before),
                now / before <= RATIO)
    end

    private

    # Returns { name => microseconds per request }: medians.
    def of(contestants)
      servers = contestants.each_with_index.to_h { |(name, make), number| [name, start(make, number)] }
      servers.each_value { |server, _address| server.pause }
      rounds = Array.new(ROUNDS) { servers.transform_values { |server, address| measure(server, address) } }
      contestants.keys.to_h { |name| [name, Bench.median(rounds.map { |round| round[name] })] }
    ensure
      servers&.each_value { |server, _address| server.finish }
    end

    def start(make, number)
      address = Load.address(:unix, @dir, "cpu#{number}")
      contestant = make.call(address)
      log = File.join(@dir, "cpu#{number}.log")
      server = ProcessGroup.new(contestant.command, env: contestant.env, address: address, core: @core, log: log)
      abort(File.read(log)) unless server.ready?
      [server, address]
    end

    def measure(server, address)
      server.resume
      before = server.cpu_ns
      result = Load.run(address, "-c", CONNECTIONS, "-n", REQUESTS)
      (server.cpu_ns - before).fdiv(1000 * result.requests)
    ensure
      server.pause
    end
  end
end
