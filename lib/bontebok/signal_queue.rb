# frozen_string_literal: true

require_relative "fork_guard"
require_relative "quiet_signals"

module Bontebok
  # Turns signals into events for a loop. A handler runs between any two instructions of the main thread, where no lock
  # may be taken and nothing logged; so it only adds a name to the queue and a byte to a pipe, which wakes the loop's
  # select. Other threads may push events of their own.
  #
  # A process that the application forks inherits the handlers. There the signal does what it would without us. So does
  # one of our own, for a moment: but QuietSignals end none of ours.
  class SignalQueue
    # The loop's select watches it.
    attr_reader :to_io

    def initialize(*signals)
      @pid = Process.pid
      @events = []
      @to_io, @wake = IO.pipe
      claim(*signals)
    end

    # Takes signals (back): an application may have handled them while it loaded.
    def claim(*signals)
      @claimed = signals.filter_map { |signal| QuietSignals.trap(signal, proc { receive(signal) }) }
    end

    # From any thread, or a signal handler.
    def push(event)
      @events << event
      @wake.write_nonblock(".", exception: false)
    end

    # All events since the last call, oldest first. Never blocks.
    def take
      @to_io.read_nonblock(4096, exception: false)
      @events.shift(@events.size)
    end

    # In a forked process that has no use for it, and none for those of its signals which are its parent's only.
    def close
      QuietSignals.hush(@claimed)
      @to_io.close
      @wake.close
    end

    private

    def receive(signal)
      return push(signal) if Process.pid == @pid
      return if QuietSignals::NAMES.include?(signal) && ForkGuard.passing?

      Signal.trap(signal, "DEFAULT")
      Process.kill(signal, Process.pid)
    end
  end
end
