# frozen_string_literal: true

require_relative "log_formats/json"
require_relative "log_formats/text"

module Bontebok
  # How an entry of the server's log is written: .line makes a line, or more, of a LogEntry.
  module LogFormats
    ALL = { "text" => Text, "json" => Json }.freeze
  end
end
