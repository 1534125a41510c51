# frozen_string_literal: true

require_relative "haproxy"

module Interop
  # A configuration of HAProxy that balances two servers, a and b. HAProxy asks each server's ready_path, and logs each
  # change of a server's state.
  class BalancingHaproxy < Haproxy
    SITES = { "haproxy, balancing" => nil }.freeze

    private

    # @backend: the paths of two unix sockets.
    def configuration
      <<~CONFIGURATION
        global
          maxconn 100
        defaults
          mode http
          timeout connect 5s
          timeout client 20s
          timeout server 20s
          timeout check 10s
        listen app
          bind unix@#{socket(0)}
          http-reuse always
          option httpchk GET /-/ready
          default-server check inter 20ms rise 2 fall 2
          server a unix@#{@backend.first}
          server b unix@#{@backend.last}
      CONFIGURATION
    end
  end
end
