# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # A graceful stop during a long request. All kept-alive connections belong to the worker with the long request. The
    # other worker is idle. If the server has closed a connection before a request is due, the request does not count,
    # because a client can send it to another server.
    class Stop < Fault
      def title = "a graceful stop; one of 2 workers is busy for 4 s; only requests on its open connections count"
      def kinds = [:kept]
      def owner(run) = run.workers.first
      def excluded = { "unicorn" => "no such thing: closes each connection" }

      def strike(run)
        run.ask_worker(run.workers.first, "/busy/4")
        sleep 0.1
        Process.kill(run.contestant.stop_signal, run.first)
      end
    end
  end
end
