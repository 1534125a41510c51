# frozen_string_literal: true

require "English"

module Bench
  class Totals
    # Deploys a server again and again, and kills its workers. In two threads.
    class Trouble
      KILL_EVERY = 1
      DEPLOY_EVERY = 2
      # The commands that take the place of some deploys, in this order.
      OTHERS = { 3 => %w[rollback --wait], 5 => %w[deploy --supervisor], 8 => %w[rollback --wait] }.freeze

      # How many workers were killed; the commands that were given, with their exit status if it is not 0.
      attr_reader :kills, :commands

      # command: a Proc that gets the words of a command, and returns the whole command.
      def initialize(server, command, env)
        @server = server
        @command = command
        @env = env
        @kills = 0
        @commands = []
        @threads = [Thread.new { repeat(KILL_EVERY) { kill } }, Thread.new { repeat(DEPLOY_EVERY) { deploy } }]
      end

      def finish
        @ends = true
        @threads.each(&:join)
      end

      private

      def repeat(seconds)
        due = now
        until @ends
          due += seconds
          sleep 0.02 while now < due && !@ends
          yield unless @ends
        end
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      def kill
        pid = @server.pids.select { |one| worker?(one) }.sample or return
        Process.kill(:KILL, pid)
        @kills += 1
      rescue Errno::ESRCH
        nil
      end

      def worker?(pid)
        File.read("/proc/#{pid}/cmdline").start_with?("bontebok worker")
      rescue SystemCallError
        false
      end

      def deploy
        words = OTHERS.fetch(@commands.size, %w[deploy --wait])
        system(@env, *@command.call(*words), in: File::NULL, out: File::NULL, err: File::NULL)
        status = $CHILD_STATUS.exitstatus
        @commands << (status.zero? ? words.first(2).join(" ") : "#{words.first} (exit status #{status})")
      end
    end
  end
end
