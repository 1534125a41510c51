# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # Some requests never end.
    class Hung < Fault
      def title = "one request per second hangs for ever; 4 workers, a request may take 3 s"
      def settings = { workers: 4, request_limit: 3, graceful_limit: 3 }
      def strike(run) = run.every(1) { run.ask("/hang") }
    end

    # The same with a limit of 1 s. unicorn gets 3 s, because it accepts no shorter limit.
    class HungShort < Hung
      def title = "the same, a request may take 1 s (unicorn: 3 s, its least)"
      def settings = { **super, request_limit: 1 }
    end
  end
end
