# frozen_string_literal: true

require_relative "../system/deadline"

module Bontebok
  # Lets a replaced process finalize its objects with a low priority, so that requests do not wait for it. If requests
  # use all processors, a process of Rails ends 3 s later, and on a busier machine even later. So a process that may be
  # killed soon keeps its priority.
  module ExitPriority
    LOW = 10
    # Seconds that a process with a low priority must have left.
    LEAST = 10
    private_constant :LOW, :LEAST

    class << self
      # The Deadline of a process that leaves while other processes serve; nil: the process keeps its priority.
      attr_writer :deadline

      # Called after the last exit handler. An unprivileged process cannot raise its priority again.
      def apply
        return if @deadline.nil? || @deadline.left < LEAST

        Process.setpriority(Process::PRIO_PROCESS, 0, [Process.getpriority(Process::PRIO_PROCESS, 0), LOW].max)
      end
    end
  end
end
