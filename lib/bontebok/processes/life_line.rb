# frozen_string_literal: true

require "io/wait"

module Bontebok
  # By which a worker whose master has died knows that the supervisor lives: a pipe into which nobody writes. The
  # supervisor alone holds the end for writing; so its death, however it came, is the end of the file.
  class LifeLine
    # Readable when the supervisor is gone.
    attr_reader :to_io

    def initialize
      @to_io, @held = IO.pipe
    end

    # In a process that the supervisor has forked.
    def close
      @held.close
    end

    def cut?
      !@to_io.wait_readable(0).nil?
    end

    # In a process that was forked by the application.
    def disown
      [@to_io, @held].each(&:close)
    end
  end
end
