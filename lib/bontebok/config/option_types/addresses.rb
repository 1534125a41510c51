# frozen_string_literal: true

require_relative "../address"

module Bontebok
  module OptionTypes
    # One or more addresses to listen on.
    class Addresses
      def metavar
        "ADDR"
      end

      def read(values)
        addresses = Array(values).map { |value| Address.of(value) }
        raise Invalid, "an address" if addresses.empty?

        fixed = addresses.reject(&:any_port?)
        raise Invalid, "each address once" if fixed.uniq.size < fixed.size

        addresses.freeze
      end

      def show(addresses)
        addresses.join(", ")
      end
    end
  end
end
