# frozen_string_literal: true

module Bontebok
  # Signals to stop that arrive while a supervisor loads that was executed in place of the former one. They wait here
  # until the supervisor handles signals (Supervisor::Resumption). exe/bontebok loads this file first.
  module EarlySignals
    NAMES = %w[TERM QUIT INT].freeze

    @waiting = []

    class << self
      def keep
        NAMES.each { |name| Signal.trap(name) { @waiting << name } }
      end

      # Returns the names of the signals that wait.
      def take
        @waiting.shift(@waiting.size)
      end
    end
  end
end
