# frozen_string_literal: true

require_relative "proxy"

module Interop
  # A configuration of H2O, which keeps its connections to the server.
  class H2o < Proxy
    PROGRAM = "h2o"
    SITES = { "h2o" => nil }.freeze

    def command = [PROGRAM, "-m", "worker", "-c", configuration_file]

    private

    # Without "user", h2o would change from root to the user nobody, which may not enter the directory.
    def configuration
      <<~CONFIGURATION
        num-threads: 1
        #{"user: root" if Process.uid.zero?}
        temp-buffer-path: #{@directory}
        listen:
          type: unix
          port: #{socket(0)}
        hosts:
          default:
            paths:
              /:
                proxy.reverse.url: "http://[unix:#{@backend}]/"
                proxy.preserve-host: ON
                proxy.timeout.keepalive: 5000
      CONFIGURATION
    end
  end
end
