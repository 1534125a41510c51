# frozen_string_literal: true

require "io/wait"

module Bontebok
  # A pipe that tells a worker whose master has died whether the supervisor lives. Nobody writes to the pipe. Only the
  # supervisor holds the write end, so a reader gets end-of-file when the supervisor dies, however it dies.
  class LifeLine
    # Becomes readable when the supervisor has died.
    attr_reader :to_io

    def initialize
      @to_io, @held = IO.pipe
    end

    # For a process that the supervisor has forked.
    def close
      @held.close
    end

    def cut?
      !@to_io.wait_readable(0).nil?
    end

    # For a process that the application has forked.
    def disown
      [@to_io, @held].each(&:close)
    end
  end
end
