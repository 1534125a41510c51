# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # A thread of the application raises an exception in the master.
    class MasterRaises < Fault
      def title = "a background thread of the preloaded application raises in the master (2 s to load)"
      def load_seconds = 2
      def strike(run) = run.note("raise")
    end

    # The master is killed. In puma and unicorn, the master is the process that was started, so only a service manager
    # can start a new one.
    class MasterKilled < Fault
      def title = "the master is killed (2 s to load)"
      def load_seconds = 2
      def strike(run) = Process.kill(:KILL, run.master)
    end
  end
end
