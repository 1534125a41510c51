# frozen_string_literal: true

require_relative "proc_file"

module Bontebok
  # Finds out whether another process is stopped (by SIGSTOP or a debugger), or has ended.
  module ProcessState
    STOPPED = /^State:\s+[Tt]/
    # Each stop adds one to this count, so the count identifies the stop.
    SWITCHES = /^voluntary_ctxt_switches:.*/
    private_constant :STOPPED, :SWITCHES

    class << self
      # Returns a text that identifies the current stop of the process. nil: it is not stopped, or /proc does not show
      # it.
      def stop(pid)
        ProcFile.read("/proc/#{pid}/status")&.then { |status| status[SWITCHES] if STOPPED.match?(status) }
      end

      # True if there is no such process. The process may belong to another user. A system can hide such a process in
      # /proc (hidepid), but kill(2) tells whether it exists.
      def gone?(pid)
        !Process.kill(0, pid)
      rescue Errno::ESRCH
        true
      rescue SystemCallError
        false
      end
    end
  end
end
