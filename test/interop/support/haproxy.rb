# frozen_string_literal: true

require_relative "proxy"

module Interop
  # A configuration of HAProxy with two sites. The first site reuses its connections to the server for requests of any
  # client. The second site opens a new connection to the server for each request.
  class Haproxy < Proxy
    PROGRAM = "haproxy"
    SITES = { "haproxy, keeping" => "http-reuse always", "haproxy, closing" => "option httpclose" }.freeze

    def command = [PROGRAM, "-db", "-f", configuration_file]

    private

    def configuration
      sites = SITES.values.each_with_index.map do |setting, number|
        <<~SITE
          listen site-#{number}
            bind unix@#{socket(number)}
            #{setting}
            server application unix@#{@backend}
        SITE
      end
      <<~CONFIGURATION
        global
          maxconn 100
        defaults
          mode http
          timeout connect 5s
          timeout client 20s
          timeout server 20s
        #{sites.join}
      CONFIGURATION
    end
  end
end
