# frozen_string_literal: true

require_relative "directory"

module Bontebok
  module OptionTypes
    # A file, or none.
    class ControlPath < Directory
      NONE = "none"

      def read(value)
        value == NONE ? NONE : super
      end
    end
  end
end
