# frozen_string_literal: true

module Bontebok
  # Signals that have a meaning for the supervisor only. A terminal or a service manager may send them to the whole
  # process group, and an operator may mistake another process for the supervisor. So in master and workers these
  # signals do nothing, unless the application has handlers of its own.
  module QuietSignals
    NAMES = %w[INT HUP USR1 USR2 TTIN TTOU].freeze
    # A handler, not "IGNORE": commands that the application executes would inherit "IGNORE".
    NOTHING = proc {}

    class << self
      # Sets an empty handler for each of the given signals that is in NAMES.
      def hush(signals)
        (NAMES & signals).each { |signal| trap(signal, NOTHING) }
      end

      # Sets a handler, except for a HUP that is ignored: nohup wants HUP to stay ignored, also in commands that the
      # application executes. Returns the signal; nil: the handler is not set.
      def trap(signal, handler)
        former = Signal.trap(signal, handler)
        return signal unless signal == "HUP" && former == "IGNORE"

        Signal.trap(signal, former)
        nil
      end

      # For a process that the application forks: the signals do there what they would do without the server.
      def disown
        NAMES.each do |signal|
          former = Signal.trap(signal, "DEFAULT")
          Signal.trap(signal, former) unless former.equal?(NOTHING)
        end
      end
    end
  end
end
