# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # A worker calls exec and becomes another program. The measured requests need the time of 1.1 workers.
    class Exec < Fault
      def title = "one of 2 workers becomes another program by exec; 1.1 workers are needed; limits of 3 s"
      def settings = { workers: 2, worker_limit: 3, graceful_limit: 3 }
      def path = "/sleep/0.055"
      def strike(run) = run.ask("/exec")
    end
  end
end
