# frozen_string_literal: true

module Bench
  module Inside
    # A state of a server. options: of the server. seconds: until the state is reached. says: what the answer must
    # contain. limit: of descriptors. reach: brings a Site into the state.
    State = Struct.new(:name, :options, :seconds, :says, :status, :limit, :reach, keyword_init: true) do
      def initialize(options: TWO, seconds: 4.5, status: 0, **rest)
        super(options: options.split, seconds: seconds, status: status, **rest)
      end
    end

    TWO = "-w 2 -t 2"
    FREEZE = ->(*pids) { pids.flatten.each { |pid| Process.kill(:STOP, pid) } }

    STATES = [
      State.new(name: "all threads sleep", says: /ALL 2 THREADS WAIT/, reach: ->(site) { site.request("/sleep", 6) }),
      State.new(name: "all in a Ruby loop", says: /ALL 2 THREADS COMPUTE/,
                reach: ->(site) { site.request("/loop", 4) }),
      State.new(name: "the lock is held in one worker", says: %r{LOCK IS HELD.*GET /lock}m,
                reach: ->(site) { site.request("/lock") }),
      State.new(name: "the lock is held in all", says: /LOCK IS HELD.*LOCK IS HELD/m,
                reach: lambda do |site|
                  2.times { site.request("/lock") && sleep(0.2) }
                  site.request("/", 4)
                end),
      # A single look cannot see that no thread goes on: status --follow says "perhaps a deadlock".
      State.new(name: "a deadlock", options: "-w 1 -t 2", says: %r{ALL 2 THREADS WAIT.*futex.*GET /deadlock}m,
                reach: ->(site) { site.request("/deadlock", 2) }),
      State.new(name: "max_queue is full", options: "#{TWO} --max-queue 3", says: /MAX_QUEUE IS FULL/,
                reach: ->(site) { site.request("/sleep", 9) }),
      State.new(name: "a worker is frozen", says: /IS STOPPED \(SIGSTOP\)/,
                reach: ->(site) { FREEZE.call(site.pids("worker").first) }),
      State.new(name: "the master is frozen", says: /the master \(pid \d+\) is stopped/,
                reach: ->(site) { FREEZE.call(site.pids("master")) }),
      State.new(name: "the supervisor is frozen", says: /the supervisor \(pid \d+\) is stopped.*worker 1/m, status: 1,
                reach: ->(site) { FREEZE.call(site.pid) }),
      State.new(name: "the master was killed", seconds: 0.5, says: /worker 1 g1/,
                reach: lambda do |site|
                  site.note("slow")
                  Process.kill(:KILL, *site.pids("master"))
                end),
      State.new(name: "a deploy loads", seconds: 2, says: /deploying/,
                reach: lambda do |site|
                  site.note("slow")
                  site.command("deploy")
                end),
      State.new(name: "a deploy has failed", seconds: 4, says: /FAILED.*the new release is broken/,
                reach: lambda do |site|
                  site.note("broken")
                  site.command("deploy")
                end),
      State.new(name: "a canary", seconds: 4, says: /deploying.*g2/m,
                reach: ->(site) { site.command("deploy", "--canary", "1", "--for", "60s") }),
      State.new(name: "draining", seconds: 0.5, says: /draining/, reach: ->(site) { site.command("drain") }),
      State.new(name: "no free descriptor", options: "-w 1 -t 2", limit: 64, says: /ACCEPTS NO CONNECTIONS/,
                reach: lambda do |site|
                  site.request("/files")
                  sleep 1
                  site.request("/", 5)
                end, seconds: 1),
      State.new(name: "-w 0", options: "-w 0 -t 2", says: %r{one process.*GET /sleep}m,
                reach: ->(site) { site.request("/sleep") }),
      State.new(name: "-w 0, the lock is held", options: "-w 0 -t 2", says: /LOCK IS HELD|does not answer/, status: 1,
                reach: ->(site) { site.request("/lock") }),
      State.new(name: "64 workers of 16 threads", options: "-w 64 -t 16", says: /64 workers of 16 threads/,
                reach: ->(site) { site.request("/", 100) })
    ].freeze
  end
end
