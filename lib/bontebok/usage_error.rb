# frozen_string_literal: true

require_relative "start_error"

module Bontebok
  # What was typed or configured is at fault: an unknown option, a value that is none.
  class UsageError < StartError
    def exit_status
      2
    end
  end
end
