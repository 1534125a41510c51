# frozen_string_literal: true

require_relative "../../system/quiet_signals"

module Bontebok
  class Supervisor
    # Signals do not end a supervisor while another program is executed in its place. TERM, QUIT, INT and CHLD wait for
    # that program (Core.hold_signals, EarlySignals). Ruby unblocks all signals when it starts, and the others of these
    # signals would end it. So that program finds them ignored.
    module HeldSignals
      IGNORED = %w[HUP USR1 USR2 TTIN TTOU].freeze

      class << self
        def hold
          Core.hold_signals(*numbers)
        end

        def release
          Core.release_signals(*numbers)
        end

        # Yields the signals that were not ignored before. The block executes a program.
        def ignore(&)
          QuietSignals.ignore(IGNORED, &)
        end

        private

        def numbers
          SIGNALS.map { |name| Signal.list.fetch(name) }
        end
      end
    end
  end
end
