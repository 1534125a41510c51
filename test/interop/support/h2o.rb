# frozen_string_literal: true

module Interop
  # A configuration of H2O, which keeps its connections to the server.
  class H2o
    PROGRAM = "h2o"

    # folder: for everything it writes. backend: path of the application server's unix socket.
    def initialize(folder, backend)
      @folder = folder
      @backend = backend
    end

    def command
      file = File.join(@folder, "h2o.yaml")
      File.write(file, configuration)
      [PROGRAM, "-m", "worker", "-c", file]
    end

    # { name of a site => its address }
    def entrances
      { "h2o" => "unix:#{socket}" }
    end

    private

    def socket
      "#{@folder}/h2o.sock"
    end

    # Without a user it would change from root to nobody, who may not enter the folder.
    def configuration
      <<~CONFIGURATION
        num-threads: 1
        #{"user: root" if Process.uid.zero?}
        temp-buffer-path: #{@folder}
        listen:
          type: unix
          port: #{socket}
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
