# frozen_string_literal: true

module Bontebok
  # Raised if a start fails for a reason outside of the server, such as a missing file. The user sees no backtrace.
  class StartError < StandardError
    # A start may have several faults. The message has all of them.
    attr_reader :messages

    def initialize(*messages)
      super(messages.join("\n"))
      @messages = messages
    end

    def exit_status
      1
    end
  end
end
