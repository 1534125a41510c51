# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # The options of the server's log and of the access log.
    module Logs
      include OptionValues

      TITLE = "Logs"

      OPTIONS = [
        Option.new("log", PATH, nil,
                   "File for standard error and the log. The server appends to the file.",
                   section: TITLE, default_text: "standard error"),
        Option.new("log_format", LOG_STYLE, "text",
                   "Format of the log: text or json. json: each entry is an object in one line.",
                   section: TITLE),
        Option.new("log_level", LOG_LEVEL, "info",
                   "Lowest level that is logged: info, warn or error.",
                   section: TITLE),
        Option.new("stdout", PATH, nil,
                   "File for standard output. It may be the same file as log.",
                   section: TITLE, default_text: "standard output"),
        Option.new("access_log", LOG_TARGET, "",
                   "Target of the access log: a file, - or syslog. The file may be a FIFO. - is standard output. For " \
                   "syslog, write syslog:KEY=VALUE,... with the keys facility, severity, tag and socket. Empty: no " \
                   "access log.",
                   section: TITLE),
        Option.new("access_log_format", LOG_FORMAT, "combined",
                   "Format of the lines of the access log. The formats are common, combined, ltsv, json, and a line " \
                   "in Apache's notation; docs/LOGS.md has the details.",
                   section: TITLE)
      ].freeze
    end
  end
end
