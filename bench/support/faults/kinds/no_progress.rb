# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # A worker without a request is frozen (SIGSTOP).
    class StoppedIdle < Fault
      def title = "an idle worker of 2 is stopped (SIGSTOP); a worker may make no progress for 3 s"
      def settings = { workers: 2, worker_limit: 3 }
      def strike(run) = Process.kill(:STOP, run.workers.first)
    end

    # A worker with a request is frozen (SIGSTOP). The measured requests need the time of 1.1 workers. The other worker
    # alone can serve these requests in time for about four seconds.
    class StoppedBusy < StoppedIdle
      def title = "one of 2 workers is stopped during a request; 1.1 workers are needed; limit without progress: 3 s"
      def path = "/sleep/0.055"
      def strike(run) = Process.kill(:STOP, run.worker_at("/busy/1"))
    end

    # A request holds Ruby's lock.
    class LockHeld < StoppedBusy
      def title = "a call in C holds Ruby's lock in one of 2 workers; 1.1 are needed; limit without progress: 3 s"
      def strike(run) = run.worker_at("/lock")
    end
  end
end
