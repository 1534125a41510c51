# frozen_string_literal: true

require_relative "start_error"

module Bontebok
  # Raised if the command line or the configuration is wrong: an unknown option, or an invalid value.
  class UsageError < StartError
    def exit_status
      2
    end
  end
end
