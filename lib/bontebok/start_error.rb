# frozen_string_literal: true

module Bontebok
  # Ends a start with a message of at most three lines and no backtrace. The fault is outside of the server: a port is
  # in use, or a file is missing.
  class StartError < StandardError
    def exit_status
      1
    end
  end
end
