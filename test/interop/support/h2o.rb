# frozen_string_literal: true

require_relative "proxy"

module Interop
  # A configuration of H2O that keeps connections to the server open.
  class H2o < Proxy
    PROGRAM = "h2o"
    SITES = { "h2o" => nil }.freeze

    def command = [PROGRAM, "-m", "worker", "-c", configuration_file]

    private

    # If root starts h2o without the setting "user", h2o runs as the user nobody. This user has no access to the
    # directory.
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
