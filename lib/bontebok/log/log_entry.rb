# frozen_string_literal: true

module Bontebok
  # What a line of the server's log says. time: text. worker and generation are nil of a process that has none; fault is
  # a LogFault or nil. All text is LogText's.
  LogEntry = Struct.new(:time, :level, :pid, :worker, :generation, :message, :fault)
end
