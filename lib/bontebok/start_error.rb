# frozen_string_literal: true

module Bontebok
  # What ends a start with a message of at most three lines and no backtrace: the operator's surroundings are at fault,
  # a port in use or a file that is missing.
  class StartError < StandardError
    def exit_status
      1
    end
  end
end
