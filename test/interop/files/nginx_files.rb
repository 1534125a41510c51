# frozen_string_literal: true

require_relative "../support/nginx"

module Interop
  # A configuration of nginx that serves a directory, with nginx's defaults.
  class NginxFiles < Nginx
    SITES = { "nginx" => nil }.freeze

    # files: the directory.
    def initialize(directory, files)
      super(directory, nil)
      @files = files
    end

    private

    def configuration
      <<~CONFIGURATION
        daemon off;
        master_process off;
        pid nginx.pid;
        error_log stderr crit;
        events {}
        http {
          access_log off;
          #{%w[client_body proxy fastcgi uwsgi scgi].map { |name| "#{name}_temp_path nginx-#{name};" }.join("\n  ")}
          default_type text/plain;
          server { listen unix:#{socket(0)}; root #{@files}; }
        }
      CONFIGURATION
    end
  end
end
