# frozen_string_literal: true

module Bontebok
  # Signals that only the supervisor handles. A terminal or a service manager may send them to the whole process group,
  # and an operator may send them to the wrong process. In masters and workers these signals do nothing, unless the
  # application has handlers of its own.
  module QuietSignals
    NAMES = %w[INT HUP USR1 USR2 TTIN TTOU].freeze
    # An empty handler, not "IGNORE": commands that the application executes would inherit "IGNORE".
    NOTHING = proc {}
    # The signals that a program ignores that this process executes, until it has handlers. INT ends such a program.
    IGNORED = (NAMES - ["INT"]).freeze
    # The environment variable for that program: the signals that were not ignored before.
    VARIABLE = "BONTEBOK_IGNORED"

    class << self
      # Ignores the signals while the block runs. The block executes a program in place of this one, which has no
      # handlers at first. Yields the signals that were not ignored before.
      def ignore(signals = IGNORED)
        former = signals.to_h { |signal| [signal, Signal.trap(signal, "IGNORE")] }
        yield former.reject { |_, handler| handler == "IGNORE" }.keys
      ensure
        former.each { |signal, handler| Signal.trap(signal, handler || "DEFAULT") }
      end

      # signals: those that .ignore has yielded. Returns the variables for the program.
      def variables(signals)
        { VARIABLE => signals.join(" ") }
      end

      # Called in that program. Removes the variable.
      def take(env)
        (IGNORED & env.delete(VARIABLE).to_s.split).each { |signal| Signal.trap(signal, NOTHING) }
      end

      # Sets an empty handler for each of the given signals that is in NAMES.
      def hush(signals)
        (NAMES & signals).each { |signal| trap(signal, NOTHING) }
      end

      # Sets a handler and returns the signal. If HUP is ignored, HUP stays ignored, and the result is nil. The reason
      # is nohup: it ignores HUP for the server and for all commands that the application executes.
      def trap(signal, handler)
        former = Signal.trap(signal, handler)
        return signal unless signal == "HUP" && former == "IGNORE"

        Signal.trap(signal, former)
        nil
      end

      # Called in a process that the application has forked. Resets the signals to their defaults, except signals with a
      # handler of the application.
      def disown
        NAMES.each do |signal|
          former = Signal.trap(signal, "DEFAULT")
          Signal.trap(signal, former) unless former.equal?(NOTHING)
        end
      end
    end
  end
end
