# frozen_string_literal: true

module Bontebok
  # The content of one entry of the server's log. time is text. worker and generation are nil for a process that has
  # none. fault is a LogFault or nil. LogText has cleaned the message and the texts of the fault.
  LogEntry = Struct.new(:time, :level, :pid, :worker, :generation, :message, :fault)
end
