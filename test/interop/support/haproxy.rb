# frozen_string_literal: true

module Interop
  # A configuration of HAProxy: one entrance that keeps its connections to the server for later requests of anybody,
  # one that opens a new one for each request.
  class Haproxy
    PROGRAM = "haproxy"
    SITES = { "haproxy, keeping" => "http-reuse always", "haproxy, closing" => "option httpclose" }.freeze

    # folder: for everything it writes. backend: path of the application server's unix socket.
    def initialize(folder, backend)
      @folder = folder
      @backend = backend
    end

    def command
      file = File.join(@folder, "haproxy.cfg")
      File.write(file, configuration)
      [PROGRAM, "-db", "-f", file]
    end

    # { name of a site => its address }
    def entrances
      SITES.keys.each_with_index.to_h { |name, number| [name, "unix:#{socket(number)}"] }
    end

    private

    def socket(number)
      "#{@folder}/haproxy-#{number}.sock"
    end

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
