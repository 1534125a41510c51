# frozen_string_literal: true

require "tmpdir"
require_relative "aim"
require_relative "contestants"
require_relative "crowd"
require_relative "load"
require_relative "process_group"

module Bench
  # How long a new client waits while other clients read nothing, and SpoolDir has no room for their responses. A thread
  # that responds to such a client then has to wait. Only Bontebok has a spool.
  class FullSpool
    DEAF = 4
    THREADS = [1, 2, 3].freeze
    SPOOL = ["--spool-max", "1M", "--spool-threshold", "64K"].freeze
    # Seconds. The only thread of a server may wait for slow clients for 1 s. Each client is reset at least 0.1 s after
    # the one before.
    AIM = 1.5

    # server_core: of the servers; app: /large is larger than the buffers of the kernel.
    def initialize(rounds, transport:, server_core:, app:)
      @rounds = rounds
      @transport = transport
      @core = server_core
      @app = app
    end

    # Each round has a new server, because a thread has this second only once for clients that come one after the other.
    def report
      waits = THREADS.to_h { |threads| [threads, Array.new(@rounds) { wait_of(threads) }.max] }
      puts "", "seconds that a new client waits beside #{DEAF} that never read, with a full spool, at most: " \
               "#{waits.map { |threads, wait| format('%.2f (-t %d)', wait, threads) }.join(', ')}"
      Bench.aim("at most #{AIM} s", waits.values.max <= AIM)
    end

    private

    def wait_of(threads)
      Dir.mktmpdir("bontebok-bench") do |dir|
        address = Load.address(@transport, dir, "full")
        server = start(address, threads, File.join(dir, "log"))
        abort("the server does not serve: #{File.read(File.join(dir, 'log'))}") unless server.ready?
        seconds_at(address)
      ensure
        server&.finish
      end
    end

    def start(address, threads, log)
      ours = Contestants.ours(address, 1, @app, threads).first
      ours = Contestants.with(ours, ours.name, *SPOOL)
      ProcessGroup.new(ours.command, env: ours.env, address: address, core: @core, log: log)
    end

    def seconds_at(address)
      deaf = Crowd.new(address).ask(DEAF, "/large", 0)
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      new = Crowd.new(address).idle(1)
      Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
    ensure
      [deaf, new].compact.each(&:leave)
    end
  end
end
