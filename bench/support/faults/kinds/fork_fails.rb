# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # A worker is killed, and for six seconds the server cannot fork (RLIMIT_NPROC). At the end of the run another
    # worker is killed, and the server must stop while it cannot fork.
    class ForkFails < Fault
      # No other process has this user id, so RLIMIT_NPROC counts only the server's processes.
      UID = 65_533
      SECONDS = 6
      STOP_LIMIT = 5

      def title = "fork fails for #{SECONDS} s (RLIMIT_NPROC); a worker is killed; a stop while fork fails"
      def settings = { workers: 2, graceful_limit: 3 }
      def path = "/sleep/0.02"

      def wrap
        return [] unless Process.uid.zero?

        ["setpriv", "--reuid=#{UID}", "--regid=#{UID}", "--clear-groups"]
      end

      def strike(run)
        begin_failing(run, run.workers.first)
        sleep(SECONDS)
        limit_processes(run, Process.getrlimit(:NPROC).last)
      end

      # Measures how long the server takes to stop.
      def finish(run)
        begin_failing(run, run.group.pids.max)
        sleep 1
        took = run.stop_seconds(run.contestant.stop_signal, STOP_LIMIT)
        run.notes << (took ? format("stops in %.1f s", took) : "does not stop within #{STOP_LIMIT} s")
      end

      private

      def begin_failing(run, worker)
        limit_processes(run, 1)
        Process.kill(:KILL, worker)
      end

      # Changes only soft limits, which can be raised again. prlimit must run as the server's user.
      def limit_processes(run, count)
        run.group.pids.each do |pid|
          system(*wrap, "prlimit", "--pid", pid.to_s, "--nproc=#{count}:")
        end
      end
    end
  end
end
