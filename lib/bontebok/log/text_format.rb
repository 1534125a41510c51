# frozen_string_literal: true

module Bontebok
  # The format of the log for people: every entry has the same number of columns. All lines of an entry after the first
  # are indented.
  #
  #   2026-03-01T08:15:02.107Z info 4713 w2 g1 GET /x: boom (RuntimeError)
  module TextFormat
    class << self
      def line(entry)
        columns = [entry.time, entry.level, entry.pid, column("w", entry.worker), column("g", entry.generation)]
        "#{columns.join(' ')} #{text(entry.message, entry.fault)}\n"
      end

      # The message, and the LogFault if there is one. Lines after the first are indented.
      def text(message, fault)
        [message, *(describe(fault) if fault)].join(": ").gsub("\n", "\n  ")
      end

      private

      def column(letter, number)
        number ? "#{letter}#{number}" : "-"
      end

      def describe(fault)
        first = [fault.message, *("(#{fault.class_name})" if fault.class_name)].join(" ")
        [first, *fault.backtrace, *fault.causes.map { |cause| "caused by #{cause}" }].join("\n")
      end
    end
  end
end
