# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"
require_relative "../contestants"
require_relative "../deploy/proxy"
require_relative "../load"
require_relative "../process_group"

module Bench
  # A deploy with a canary, of a server with 4 workers behind a proxy. A fifth of the threads are the canary's. Before
  # the deploy no request fails, and a share of the canary's requests fails.
  class CanaryTrial
    APP = File.join(Build::ROOT, "bench/apps/canary.ru")
    PROGRAM = [RbConfig.ruby, File.join(Build::ROOT, "exe/bontebok")].freeze
    # Seconds before the deploy.
    CALM = 2
    CONNECTIONS = 8

    # seen: users who got an error. output: of the command. seconds: until its end.
    Result = Struct.new(:seen, :output, :status, :seconds) do
      def table = output.lines.grep(/^(canary|former) /).map(&:chomp)
    end

    # site: a Deploys::Proxy::Site.
    def initialize(site, rate: 60, seconds: 15)
      @site = site
      @rate = rate
      @seconds = seconds
    end

    # share: of the canary's requests, which fails.
    def run(share)
      Dir.mktmpdir("bontebok-bench") do |dir|
        @dir = dir
        start(0)
        load = Thread.new { ask }
        sleep(CALM)
        note(share)
        result = deploy
        result.seen = load.value.failed
        result
      ensure
        [@proxy, @server].compact.each(&:finish)
      end
    end

    private

    def start(share)
      note(share)
      address = File.join(@dir, "server.sock")
      contestant = Contestants.with(Contestants.ours(address, 4, APP).first, "bontebok", "--control", control)
      @server = ProcessGroup.new(contestant.command, env: contestant.env.merge("BENCH_ERRORS" => errors),
                                                     address: address, core: "0,1", log: File.join(@dir, "server.log"))
      raise Deploys::Failed, "the server does not start" unless @server.ready?

      @proxy = Deploys::Proxy.new(@site, @dir, address).tap(&:start)
    end

    def ask
      Load.run(@proxy.address, "-c", CONNECTIONS, "--rate", @rate, "-d", CALM + @seconds + 1)
    end

    def deploy
      began = now
      output, status = Open3.capture2e(*PROGRAM, "deploy", "--canary", "1", "--for", "#{@seconds}s",
                                       "--control", control)
      Result.new(nil, output, status.exitstatus, now - began)
    end

    def note(share) = File.write(errors, share.to_s)

    def errors = File.join(@dir, "errors")

    def control = File.join(@dir, "control")

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
