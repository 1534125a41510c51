# frozen_string_literal: true

require_relative "proxy"

module Interop
  # A configuration of nginx with four sites. A "closing" site opens an HTTP/1.0 connection to the server for each
  # request (nginx's default). A "keeping" site reuses HTTP/1.1 connections. An "unbuffered" site sends each part of a
  # request body to the server as soon as the part arrives. The other sites wait until nginx has the whole body.
  class Nginx < Proxy
    PROGRAM = "nginx"
    CLOSED = ""
    KEPT = "proxy_http_version 1.1; proxy_set_header Connection \"\";"
    UNBUFFERED = "proxy_request_buffering off;"
    SITES = {
      "nginx, closing" => CLOSED,
      "nginx, keeping" => KEPT,
      "nginx, closing, unbuffered" => CLOSED + UNBUFFERED,
      "nginx, keeping, unbuffered" => KEPT + UNBUFFERED
    }.freeze

    def command = [PROGRAM, "-p", @directory, "-e", "stderr", "-c", configuration_file]

    private

    # Without a master process, nginx runs as the user who runs the tests.
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
          client_max_body_size 0;
          #{sites}
        }
      CONFIGURATION
    end

    def sites
      <<~CONFIGURATION
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto https;
        upstream kept { server unix:#{@backend}; keepalive 4; }
        #{SITES.values.each_with_index.map { |settings, number| site(number, settings) }.join}
      CONFIGURATION
    end

    def site(number, settings)
      upstream = settings.start_with?(KEPT) ? "kept" : "unix:#{@backend}"
      # A location inherits the fields of http{} only if the location sets no field itself.
      host = "proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto https;"
      "server { listen unix:#{socket(number)}; location / { #{host} #{settings} proxy_pass http://#{upstream}; } }\n"
    end
  end
end
