# frozen_string_literal: true

require_relative "directory"

module Bontebok
  module OptionTypes
    # A file, or none.
    class ControlPath < Directory
      NONE = "none"

      # True if the value means that there is no control socket.
      def self.unset?(value)
        [nil, NONE].include?(value)
      end

      def read(value)
        value == NONE ? NONE : super
      end
    end
  end
end
