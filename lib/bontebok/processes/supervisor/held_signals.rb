# frozen_string_literal: true

module Bontebok
  class Supervisor
    # Signals do not end a supervisor while another program is executed in its place. TERM, QUIT, INT and CHLD wait for
    # that program (Core.hold_signals, EarlySignals). Ruby unblocks all signals when it starts, and the others of these
    # signals would end it. So that program finds them ignored (QuietSignals.ignore).
    module HeldSignals
      # All signals that a supervisor handles.
      SIGNALS = %w[TERM QUIT INT HUP USR1 USR2 TTIN TTOU CHLD].freeze
      NUMBERS = Signal.list.values_at(*SIGNALS).freeze
      private_constant :NUMBERS

      def self.hold = Core.hold_signals(*NUMBERS)

      def self.release = Core.release_signals(*NUMBERS)
    end
  end
end
