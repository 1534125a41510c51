# frozen_string_literal: true

require_relative "../contestants"

module Bench
  module Files
    # nginx with one worker per CPU and a cache of open files, which sends the same fields as our server.
    module Nginx
      # Debian installs nginx in a directory that is only in root's PATH.
      PATH = "#{ENV.fetch('PATH')}:/usr/sbin:/sbin".freeze
      TEMPORARY = %w[client_body proxy fastcgi uwsgi scgi].map { |name| "#{name}_temp_path nginx-#{name};" }.freeze

      module_function

      # place: a Commands::Place.
      def command(place)
        file = File.join(place.dir, "nginx.conf")
        File.write(file, configuration(place))
        Contestants::Contestant.new(env: { "PATH" => PATH },
                                    command: ["nginx", "-p", place.dir, "-e", "stderr", "-c", file])
      end

      # nil: nginx is not installed.
      def version
        IO.popen({ "PATH" => PATH }, %w[nginx -v], err: %i[child out], &:read)[%r{nginx/(\S+)}, 1]
      rescue Errno::ENOENT
        nil
      end

      # If root starts nginx, its workers run as another user by default. That user may not read the files.
      def configuration(place)
        <<~CONFIGURATION
          daemon off;
          worker_processes #{place.workers};
          #{'user root;' if Process.uid.zero?}
          pid nginx.pid;
          error_log stderr error;
          events { worker_connections 1024; }
          http {
            types { text/javascript js; text/css css; text/html html; image/png png; }
            default_type application/octet-stream;
            access_log off;
            sendfile on;
            tcp_nopush on;
            keepalive_requests 1000000000;
            open_file_cache max=2048 inactive=60s;
            open_file_cache_valid 1s;
            #{TEMPORARY.join("\n  ")}
            server {
              listen #{Contestants.listen(place.address)};
              root #{place.root};
            }
          }
        CONFIGURATION
      end

      private_class_method :configuration
    end
  end
end
