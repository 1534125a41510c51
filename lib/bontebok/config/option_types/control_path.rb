# frozen_string_literal: true

require_relative "../address"
require_relative "directory"

module Bontebok
  module OptionTypes
    # A file, or none. The file may have the form of an address, unix:/path. An abstract name has no permissions, so it
    # is refused.
    class ControlPath < Directory
      NONE = "none"

      # True if the value means that there is no control socket. nil: another version of Bontebok has no default.
      def self.unset?(value)
        [nil, NONE].include?(value)
      end

      def read(value)
        value == NONE ? NONE : super(path(value.to_s))
      end

      private

      def path(text)
        raise Invalid, @wanted if text.start_with?("@", "tcp:")
        return text unless text.start_with?("unix:")

        address = Address.parse(text)
        address.abstract? ? raise(Invalid, @wanted) : address.path
      end
    end
  end
end
