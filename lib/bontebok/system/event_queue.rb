# frozen_string_literal: true

module Bontebok
  # Events for a thread that waits in select. Other threads push the events. SignalQueue adds signals.
  class EventQueue
    # Readable when there are events.
    attr_reader :to_io

    def initialize
      @events = []
      @to_io, @wake = IO.pipe
    end

    # May be called in any thread and in a signal handler. Does nothing after #close.
    def push(event)
      @events << event
      @wake.write_nonblock(".", exception: false)
    rescue IOError
      nil
    end

    # Returns all events since the last call, oldest first. Never blocks.
    def take
      @to_io.read_nonblock(4096, exception: false)
      @events.shift(@events.size)
    end

    def close
      @to_io.close
      @wake.close
    end
  end
end
