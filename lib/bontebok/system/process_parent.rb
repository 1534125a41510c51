# frozen_string_literal: true

require_relative "proc/stat_line"

module Bontebok
  # Finds out from /proc which process is the parent of another process.
  module ProcessParent
    # Returns the pid of the parent. nil: the process has ended, or /proc does not show it.
    def self.of(pid) = StatLine.read("/proc/#{pid}/stat")&.parent
  end
end
