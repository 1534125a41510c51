# frozen_string_literal: true

module Bontebok
  # Finds out from /proc which process is the parent of another process.
  module ProcessParent
    # Returns the pid of the parent. nil: the process has ended, or /proc does not show it.
    def self.of(pid)
      File.read("/proc/#{pid}/stat").rpartition(")").last.split[1].to_i
    rescue SystemCallError
      nil
    end
  end
end
