# frozen_string_literal: true

require_relative "log_formats/json"
require_relative "log_formats/text"

module Bontebok
  # The formats of the server's log: .line turns a LogEntry into text, one line or more.
  module LogFormats
    ALL = { "text" => Text, "json" => Json }.freeze
  end
end
