# frozen_string_literal: true

require_relative "../load"
require_relative "../process_group"
require_relative "settings"

module Bench
  module Psgi
    # nginx in front of the unix socket of one server. It has processes of its own, on the load tool's core, so that its
    # CPU time is not the server's.
    class Nginx
      # Debian installs nginx in a directory that is only in root's PATH.
      PATH = "#{ENV.fetch('PATH')}:/usr/sbin:/sbin".freeze
      # Connections to the server that nginx keeps: more than the load tool has clients.
      KEPT = 64
      KEEPING = 'proxy_http_version 1.1; proxy_set_header Connection "";'

      attr_reader :address

      def self.installed? = system({ "PATH" => PATH }, "nginx", "-v", out: File::NULL, err: File::NULL)

      # directory: for nginx's files; this object creates it. mode: :close, nginx opens a connection for each request
      # (its default); :kept. backend: the server's socket.
      def initialize(directory, mode, backend)
        Dir.mkdir(directory)
        @address = File.join(directory, "sock")
        file = File.join(directory, "nginx.conf")
        File.write(file, configuration(mode, backend))
        @group = ProcessGroup.new(["nginx", "-p", directory, "-e", "stderr", "-c", file],
                                  env: { "PATH" => PATH }, address: @address, core: Load::CORE,
                                  log: File.join(directory, "log"))
        @group.ready? || abort("nginx does not start: #{File.read(File.join(directory, 'log'))}")
      end

      def finish = @group.finish

      private

      # Without a master process, nginx runs as the user who runs the bench.
      def configuration(mode, backend)
        <<~CONFIGURATION
          daemon off;
          master_process off;
          pid nginx.pid;
          error_log stderr warn;
          events {}
          http {
            access_log off;
            #{%w[client_body proxy fastcgi uwsgi scgi].map { |name| "#{name}_temp_path nginx-#{name};" }.join("\n  ")}
            keepalive_requests #{MANY};
            upstream server {
              server unix:#{backend};
              #{"keepalive #{KEPT}; keepalive_requests #{MANY};" if mode == :kept}
            }
            server {
              listen unix:#{@address};
              location / {
                #{KEEPING if mode == :kept}
                proxy_set_header Host $http_host;
                proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
                proxy_set_header X-Forwarded-Proto https;
                proxy_pass http://server;
              }
            }
          }
        CONFIGURATION
      end
    end
  end
end
