# frozen_string_literal: true

module Bontebok
  # Reads a file of /proc.
  module ProcFile
    # Returns the bytes; nil: there is no such file now, or this user may not read it.
    def self.read(path)
      File.binread(path)
    rescue SystemCallError
      nil
    end
  end
end
