# frozen_string_literal: true

module Bench
  module Abuse
    # Deploys the server every 10 s, and kills a worker every 7 s.
    class Strikes
      DEPLOY_EVERY = 10
      KILL_EVERY = 7
      # Seconds for a killed process to end. The kernel frees its memory before it closes its connections.
      GONE_LIMIT = 10
      # from: before the signal. to: the master has reaped the process.
      Kill = Struct.new(:pid, :from, :to)

      # failures: what the failed deploys have printed.
      attr_reader :kills, :failures

      def initialize(server, random)
        @server = server
        @random = random
        @kills = []
        @deploys = 0
        @failures = []
        @longest = 0
      end

      # The last strike is early enough for the loads to see its effect. Returns threads.
      def start(limit)
        [Thread.new { every(DEPLOY_EVERY, limit) { deploy } }, Thread.new { every(KILL_EVERY, limit) { kill } }]
      end

      # Number of deploys, number of those that failed, seconds of the longest.
      def figures = [@deploys, failures.size, @longest]

      private

      def every(seconds, limit)
        due = Abuse.now
        while (due += seconds) < limit - KILL_EVERY
          pause = due - Abuse.now
          pause.positive? ? sleep(pause) : due = Abuse.now
          yield
        end
      end

      def deploy
        began = Abuse.now
        failure = @server.deploy
        @deploys += 1
        @longest = [@longest, Abuse.now - began].max
        @failures << failure if failure
      end

      # Any worker: one that loads, one that serves, or one that leaves.
      def kill
        pid = @server.workers.sample(random: @random) or return
        @kills << (kill = Kill.new(pid, Abuse.now, Float::INFINITY))
        Process.kill(:KILL, pid)
        sleep 0.005 while Dir.exist?("/proc/#{pid}") && Abuse.now < kill.from + GONE_LIMIT
        kill.to = Abuse.now
      rescue Errno::ESRCH
        @kills.pop
      end
    end
  end
end
