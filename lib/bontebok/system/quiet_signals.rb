# frozen_string_literal: true

module Bontebok
  # Signals that mean something to the supervisor alone. Whoever sends them to a whole group or service, as a terminal
  # does, or to a process that he took for the supervisor, is to do no harm: in master and workers they do nothing,
  # unless the application has handlers of its own.
  module QuietSignals
    NAMES = %w[INT HUP USR1 USR2 TTIN TTOU].freeze
    # A handler: "IGNORE" would be inherited by what the application executes.
    NOTHING = proc {}

    class << self
      # Those among the given signals do nothing from now on.
      def hush(signals)
        (NAMES & signals).each { |signal| trap(signal, NOTHING) }
      end

      # Sets a handler, but not for a HUP that is ignored: nohup wants it to stay so, also in what the application
      # executes. Returns the signal if it is set.
      def trap(signal, handler)
        former = Signal.trap(signal, handler)
        return signal unless signal == "HUP" && former == "IGNORE"

        Signal.trap(signal, former)
        nil
      end

      # In a process that the application forks they do what they would without us.
      def disown
        NAMES.each do |signal|
          former = Signal.trap(signal, "DEFAULT")
          Signal.trap(signal, former) unless former.equal?(NOTHING)
        end
      end
    end
  end
end
