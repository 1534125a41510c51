# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # Some requests never end.
    class Hung < Fault
      def title = "one request per second hangs for ever; 4 workers; the limit of a request is 3 s"
      def settings = { workers: 4, request_limit: 3, graceful_limit: 3 }
      def strike(run) = run.every(1) { run.ask("/hang") }
    end

    # The same with a limit of 1 s. unicorn gets 3 s, because it accepts no shorter limit.
    class HungShort < Hung
      def title = "like hung, but the limit of a request is 1 s (3 s in unicorn, which accepts no shorter limit)"
      def settings = { **super, request_limit: 1 }
    end
  end
end
