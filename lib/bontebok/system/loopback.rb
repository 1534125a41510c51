# frozen_string_literal: true

require "socket"

module Bontebok
  # The IP addresses of localhost: 127.0.0.1, and ::1 if the machine has IPv6. /etc/hosts may not have both.
  module Loopback
    def self.addresses
      Addrinfo.tcp("::1", 0).bind(&:close)
      %w[127.0.0.1 ::1]
    rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT
      %w[127.0.0.1]
    end
  end
end
