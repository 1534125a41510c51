# frozen_string_literal: true

require_relative "log_formats/json"
require_relative "log_formats/text"

module Bontebok
  # The formats of the server's log: .line turns a LogEntry into text, one line or more.
  module LogFormats
    ALL = { "text" => Text, "json" => Json }.freeze

    # The content of one entry of the server's log. time is text. worker and generation are nil for a process that has
    # none. fault is a LogFault or nil. LogText has cleaned the message and the texts of the fault.
    LogEntry = Struct.new(:time, :level, :pid, :worker, :generation, :message, :fault)
  end
end
