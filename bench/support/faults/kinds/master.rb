# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # The application ends the master.
    class MasterRaises < Fault
      def title = "a background thread of the preloaded application raises in the master (2 s to load)"
      def load_seconds = 2
      def strike(run) = run.note("raise")
    end

    # The master is killed. The master of puma and unicorn is the process that was started: a service manager has to
    # start another one.
    class MasterKilled < Fault
      def title = "the master is killed (2 s to load)"
      def load_seconds = 2
      def strike(run) = Process.kill(:KILL, run.master)
    end
  end
end
