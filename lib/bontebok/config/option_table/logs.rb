# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # What is written down of all that, and where.
    module Logs
      include OptionValues

      TITLE = "Logs"

      OPTIONS = [
        Option.new("Log", PATH, nil,
                   "File to which standard error goes, and with it the log. What is there stays.",
                   section: TITLE, default_text: "standard error as it is"),
        Option.new("LogFormat", LOG_STYLE, "text",
                   "text, or json: each entry is one line, an object.", section: TITLE),
        Option.new("LogLevel", LOG_LEVEL, "info",
                   "The least that is logged: info, warn or error.", section: TITLE),
        Option.new("Stdout", PATH, nil,
                   "File to which standard output goes. It may be the same as Log.",
                   section: TITLE, default_text: "standard output as it is"),
        Option.new("AccessLog", LOG_TARGET, "",
                   "Where each request is logged: a file or FIFO, - for standard output, or syslog:KEY=VALUE,... " \
                   "with facility, severity, tag and socket. Empty: nowhere.",
                   section: TITLE),
        Option.new("AccessLogFormat", LOG_FORMAT, "combined",
                   "common, combined, ltsv, json, or a line in Apache's notation; docs/LOGS.md has all of it.",
                   section: TITLE)
      ].freeze
    end
  end
end
