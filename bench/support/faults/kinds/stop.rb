# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # A graceful stop beside a long request. Requests that find their connection closed are not counted: a client can
    # send them elsewhere.
    class Stop < Fault
      def title = "a graceful stop while one worker of 2 is busy for 4 s: requests on connections that are still open"
      def kinds = [:kept]
      def excluded = { "unicorn" => "no such thing: closes each connection" }

      def strike(run)
        run.worker_at("/busy/4")
        Process.kill(run.contestant.stop_signal, run.first)
      end
    end
  end
end
