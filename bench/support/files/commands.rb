# frozen_string_literal: true

require "rbconfig"
require_relative "../contestants"
require_relative "../load"
require_relative "nginx"

module Bench
  module Files
    # The commands that start each server.
    module Commands
      APPS = File.join(Contestants::APPS, "files")
      GEMFILE = File.join(Build::ROOT, "bench/peers/files/Gemfile")
      # The options with which our server serves the files of a directory.
      PUBLIC = ->(directory) { ["--public", directory] }
      # address: "/path" or "127.0.0.1:PORT". root: the directory that the server serves. dir: for files of its own.
      Place = Struct.new(:address, :root, :dir, :workers, keyword_init: true) do
        def unix? = address.start_with?("/")
        def port = address[/\d+\z/]
      end
      # 16 MB for code are enough for these applications. YJIT of Ruby 3.1 uses all of its 256 MB at once.
      YJIT = (defined?(RubyVM::YJIT) ? { "RUBYOPT" => "--yjit --yjit-exec-mem-size=16" } : {}).freeze
      PUMA_THREADS = 3
      # So long, a server must not replace a worker that bench/files has frozen while it measures others.
      FROZEN_SECONDS = 3600

      module_function

      def bontebok(place) = ours(place, *PUBLIC.call(place.root), app("none"))
      def bontebok_static(place) = ours(place, app("static"), env: YJIT)

      def ours(place, *more, env: {})
        bundled(place, File.join(Build::ROOT, "exe/bontebok"), "-w", place.workers.to_s, "-t", "1", "-E", "production",
                "-l", Contestants.listen(place.address), *more, env: env)
      end

      def nginx(place) = Nginx.command(place)

      def puma(place)
        address = place.unix? ? "unix://#{place.address}" : "tcp://#{place.address}"
        bundled(place, *puma_command(place, "-b", address), app("static"), env: YJIT)
      end

      def thruster(place)
        behind = Load.address("tcp", nil, nil)
        bundled(place, "thrust", *puma_command(place, "-b", "tcp://#{behind}"), app("static"),
                env: { "HTTP_PORT" => place.port, "TARGET_PORT" => behind[/\d+\z/], "LOG_REQUESTS" => "0",
                       "BENCH_SENDFILE" => "1", **YJIT })
      end

      def iodine(place)
        where = place.unix? ? ["-p", "0", "-b", place.address] : ["-b", "127.0.0.1", "-p", place.port]
        bundled(place, "iodine", *where, "-w", place.workers.to_s, "-t", "1", "-www", place.root, app("none"))
      end

      def agoo(place)
        bundled(place, RbConfig.ruby, File.join(APPS, "agoo.rb"),
                env: { "BENCH_LISTEN" => place.address, "BENCH_WORKERS" => place.workers.to_s })
      end

      def falcon(place)
        bundled(place, "falcon", "serve", "-n", place.workers.to_s, "--health-check-timeout", FROZEN_SECONDS.to_s,
                "-b", "http://#{place.address}", "-c", app("falcon"), env: YJIT)
      end

      # -w 0: without cluster mode, for one worker.
      def puma_command(place, *options)
        ["puma", "-C", File.join(APPS, "puma.rb"), "-q", "-e", "production", "-t", "#{PUMA_THREADS}:#{PUMA_THREADS}",
         "-w", (place.workers > 1 ? place.workers : 0).to_s, *options]
      end

      def bundled(place, *command, env: {})
        Contestants::Contestant.new(
          command: ["bundle", "exec", *command],
          env: { "RACK_ENV" => "production", "BENCH_ROOT" => place.root, **Build.gems_of(GEMFILE), **env }
        )
      end

      def app(name) = File.join(APPS, "#{name}.ru")

      private_class_method :ours, :puma_command, :bundled, :app
    end
  end
end
