# frozen_string_literal: true

require "io/wait"

module Bontebok
  # A pipe that shows whether the supervisor lives. A worker watches the pipe after its master has died. Nobody writes
  # to the pipe. Only the supervisor holds the write end, so a reader gets end-of-file when the supervisor dies for any
  # reason.
  class LifeLine
    # Becomes readable when the supervisor has died.
    attr_reader :to_io

    # The end that an executed master gets from the supervisor.
    def self.inherit(reader)
      new([reader])
    end

    def initialize(ends = IO.pipe)
      @to_io, @held = ends
    end

    # Both ends, in the supervisor.
    def ends
      [@to_io, @held]
    end

    # Called in a process that the supervisor has forked.
    def close
      @held&.close
    end

    def cut?
      !@to_io.wait_readable(0).nil?
    end

    # Called in a process that the application has forked.
    def disown
      [@to_io, @held].compact.each(&:close)
    end
  end
end
