# frozen_string_literal: true

require_relative "address"

module Bontebok
  # Reads an address as puma's `bind` and `-b` do: unix://tmp/a.sock is a relative path, ~ is a name like any other, %20
  # is a space, and a text after # is ignored.
  module PumaAddress
    PATTERN = %r{\A(?<scheme>tcp(?=://)|unix):(?://)?(?<where>[^?#]*)(?:\?(?<parameters>[^#]*))?(?:#.*)?\z}m

    class << self
      # Returns the address for Listen and the text of the parameters, or nil.
      def read(text)
        match = PATTERN.match(text) if text.valid_encoding?
        return unless match

        where = match[:where]
        unix = match[:scheme] == "unix"
        [unix ? Address::Path.new(where.gsub("%20", " ")) : where.delete_suffix("/"), match[:parameters].to_s]
      end
    end
  end
end
