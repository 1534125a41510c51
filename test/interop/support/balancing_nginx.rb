# frozen_string_literal: true

require_relative "nginx"

module Interop
  # A configuration of nginx that balances two servers and keeps connections to both. nginx sends no health checks. A
  # server is out for fail_timeout after a failed request (max_fails).
  class BalancingNginx < Nginx
    SITES = { "nginx, balancing" => nil }.freeze

    private

    # @backend: the paths of two unix sockets.
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
          upstream app {
            #{@backend.map { |path| "server unix:#{path} max_fails=1 fail_timeout=60s;" }.join(' ')}
            keepalive 4;
          }
          server {
            listen unix:#{socket(0)};
            location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; }
          }
        }
      CONFIGURATION
    end
  end
end
