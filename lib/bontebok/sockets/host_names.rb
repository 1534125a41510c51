# frozen_string_literal: true

require "socket"

require_relative "../start_error"

module Bontebok
  # Finds the IP addresses of an Address to listen on. A look-up of a host name can take long (DNS), so the supervisor
  # makes none during a deploy: the new master sends a table with its look-ups (HostNames.table, HostNames::Table).
  module HostNames
    # The look-ups of another process.
    class Table
      # hash: the result of HostNames.table.
      def initialize(hash)
        @hash = Hash(hash)
      end

      # Raises StartError.
      def resolve(address)
        HostNames.numeric(address.host, address.port)
      rescue SocketError
        ips = @hash[address.to_s]
        raise StartError, ips if ips.is_a?(String)
        raise StartError, "cannot listen on #{address}: its IP addresses are not known" unless ips.is_a?(Array)

        ips.flat_map { |ip| HostNames.numeric(ip, address.port) }
      end
    end

    class << self
      # Returns a list of Addrinfo. A numeric address is used as it is. A name may have addresses that this machine does
      # not have: /etc/hosts may give localhost the address ::1 on a machine without IPv6. Addresses that the machine
      # does not have are left out, unless none would remain. Raises StartError.
      def resolve(address)
        numeric(address.host, address.port)
      rescue SocketError
        all = look_up(address)
        here = all.select { |info| here?(info) }
        here.empty? ? all : here
      end

      # Raises SocketError if the host is a name.
      def numeric(host, port)
        return [any(port)] if host == Address::ANY

        addresses(host, port, Socket::AI_NUMERICHOST)
      end

      # The look-ups for another process, as values of JSON: { address => list of IP addresses, or the error }.
      def table(addresses)
        addresses.reject(&:unix?).to_h do |address|
          [address.to_s, resolve(address).map(&:ip_address)]
        rescue StartError => e
          [address.to_s, e.message]
        end
      end

      private

      # A socket on [::] also accepts IPv4. A kernel without IPv6 has no such address.
      def any(port)
        all = Addrinfo.tcp("::", port)
        here?(all) ? all : Addrinfo.tcp("0.0.0.0", port)
      end

      def look_up(address)
        addresses(address.host, address.port, Socket::AI_ADDRCONFIG)
      rescue SocketError => e
        raise StartError, "cannot listen on #{address}: #{e.message}"
      end

      def addresses(host, port, flag)
        Addrinfo.getaddrinfo(host, port, nil, :STREAM, nil, flag).uniq(&:ip_address)
      end

      def here?(info)
        Addrinfo.tcp(info.ip_address, 0).bind(&:close)
        true
      rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT
        false
      end
    end
  end
end
