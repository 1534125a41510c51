# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # A list of addresses, networks, and `unix` for all clients of unix sockets. It is an Array, or a text with spaces
    # or commas between the items. The effective value is a text with spaces, for the core.
    class Networks
      # The most networks that the core accepts.
      MOST = 128
      UNIX = "unix"
      NONE = "none"

      def metavar
        "NETWORKS"
      end

      def read(value)
        words = Array(value).flat_map { |text| text.to_s.b.split(/[\s,]+/) }.reject(&:empty?)
        return "" if words == [NONE]
        raise Invalid, "at most #{MOST} networks" if words.size > MOST

        words.map { |word| network(word) }.uniq.join(" ").freeze
      end

      def show(value)
        value.empty? ? NONE : value
      end

      private

      def network(word)
        return UNIX if word == UNIX

        require "ipaddr" # here, because few servers have a proxy with an address
        address = IPAddr.new(word)
        raise Invalid, "addresses without a zone" if address.ipv6? && address.zone_id

        longest = address.ipv4? ? 32 : 128
        address.prefix == longest ? address.to_s : "#{address}/#{address.prefix}"
      rescue IPAddr::Error
        raise Invalid, "addresses, networks (10.0.0.0/8), or unix"
      end
    end
  end
end
