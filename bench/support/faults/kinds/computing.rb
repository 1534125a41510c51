# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # A thread of the application computes all the time, and releases Ruby's lock only when Ruby forces it to.
    class Computing < Fault
      def title = "a background thread computes in one of 2 workers; limit of a response: 50 ms"
      def limit = 0.05
      def strike(run) = run.worker_at("/compute")
    end
  end
end
