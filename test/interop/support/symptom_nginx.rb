# frozen_string_literal: true

require_relative "nginx"

module Interop
  # A configuration of nginx with nginx's defaults, except a short proxy_read_timeout.
  class SymptomNginx < Nginx
    SITES = { "nginx" => nil }.freeze

    # under: a command that executes nginx.
    def initialize(directory, backend, under: [])
      super(directory, backend)
      @under = under
    end

    def command = [*@under, *super]

    private

    def configuration
      <<~CONFIGURATION
        daemon off;
        master_process off;
        pid nginx.pid;
        error_log stderr warn;
        events {}
        http {
          access_log off;
          #{%w[client_body proxy fastcgi uwsgi scgi].map { |name| "#{name}_temp_path nginx-#{name};" }.join("\n  ")}
          proxy_read_timeout 500ms;
          server {
            listen unix:#{socket(0)};
            location / { proxy_pass http://unix:#{@backend}; }
          }
        }
      CONFIGURATION
    end
  end
end
