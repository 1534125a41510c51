# frozen_string_literal: true

require_relative "proc_file"

module Bontebok
  # Finds out from /proc whether another process is stopped (by SIGSTOP or a debugger).
  module ProcessStop
    STATE = /^State:\s+[Tt]/
    # Each stop adds one to this count, so the count identifies the stop.
    SWITCHES = /^voluntary_ctxt_switches:.*/

    # Returns a text that identifies the current stop of the process. nil: it is not stopped, or /proc does not show it.
    def self.of(pid)
      ProcFile.read("/proc/#{pid}/status")&.then { |status| status[SWITCHES] if STATE.match?(status) }
    end
  end
end
