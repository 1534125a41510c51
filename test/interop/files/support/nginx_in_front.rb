# frozen_string_literal: true

require_relative "../../support/nginx"

module Interop
  # nginx that sends the files of a directory itself, and passes all other requests on: what `public` replaces.
  class NginxInFront < Nginx
    # fields: { prefix of paths => value of Cache-Control }
    def initialize(directory, backend, root:, port:, fields:)
      super(directory, backend)
      @root = root
      @port = port
      @fields = fields
    end

    def entrances = { "nginx" => "127.0.0.1:#{@port}" }

    private

    def sites
      <<~CONFIGURATION
        types { text/css css; text/javascript js; image/png png; image/svg+xml svg; font/woff2 woff2; }
        server {
          listen 127.0.0.1:#{@port};
          root #{@root};
          #{{ "/" => nil, **@fields }.map { |prefix, value| location(prefix, value) }.join("\n  ")}
          location @application { proxy_set_header Host $http_host; proxy_pass http://unix:#{@backend}; }
        }
      CONFIGURATION
    end

    def location(prefix, value)
      "location #{prefix} { try_files $uri @application; #{"add_header Cache-Control \"#{value}\";" if value} }"
    end
  end
end
