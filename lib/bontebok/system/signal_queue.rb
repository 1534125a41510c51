# frozen_string_literal: true

require_relative "event_queue"
require_relative "fork_guard"
require_relative "quiet_signals"

module Bontebok
  # Turns signals into events for the loop of the main thread. A signal handler may interrupt the main thread anywhere,
  # so the handler must not take a lock or log. The handler only adds a name to the queue and writes a byte to a pipe,
  # which wakes the loop's select. Other threads may push events of their own.
  #
  # A forked process inherits the handlers. In that process, a handler resets its signal to the default and sends the
  # signal again, so the signal has the same effect as without the server. But if the server has forked the process, the
  # signals of QuietSignals do nothing.
  class SignalQueue < EventQueue
    def initialize(*signals)
      super()
      @pid = Process.pid
      claim(*signals)
    end

    # Sets the handlers of these signals. Called again when the application is loaded, because it may have replaced the
    # handlers. #close restores its handler of CHLD, because it may have child processes in a worker.
    def claim(*signals)
      claim_children if signals.include?("CHLD")
      @claimed = (signals - ["CHLD"]).filter_map { |signal| QuietSignals.trap(signal, proc { receive(signal) }) }
    end

    # Called in a forked process that has no use for it. The signals of QuietSignals do nothing from now on.
    def close
      QuietSignals.hush(@claimed)
      give_children_back if @on_child
      super
    end

    private

    def claim_children
      @on_child ||= proc { receive("CHLD") }
      former = Signal.trap("CHLD", @on_child)
      @former = former unless former.equal?(@on_child)
    end

    # A handler that the application has set after #claim stays.
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
