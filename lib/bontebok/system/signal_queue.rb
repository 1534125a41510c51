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

    # Takes signals (back): an application may have handled them while it loaded. Its own handler of CHLD is for
    # processes of its own, which workers have: see #close.
    def claim(*signals)
      claim_children if signals.include?("CHLD")
      @claimed = (signals - ["CHLD"]).filter_map { |signal| QuietSignals.trap(signal, proc { receive(signal) }) }
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
      give_children_back if @on_child
      @to_io.close
      @wake.close
    end

    private

    def claim_children
      @on_child ||= proc { receive("CHLD") }
      former = Signal.trap("CHLD", @on_child)
      @former = former unless former.equal?(@on_child)
    end

    # The application may have set another one since.
    def give_children_back
      current = Signal.trap("CHLD", @former || "DEFAULT")
      Signal.trap("CHLD", current) unless current.equal?(@on_child)
    end

    def receive(signal)
      return push(signal) if Process.pid == @pid
      return if QuietSignals::NAMES.include?(signal) && ForkGuard.passing?

      signal == "CHLD" ? give_children_back : Signal.trap(signal, "DEFAULT")
      Process.kill(signal, Process.pid)
    end
  end
end
