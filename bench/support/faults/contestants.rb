# frozen_string_literal: true

require_relative "../contestants"

module Bench
  module Faults
    # A server with the settings of a fault. WORDS translates the settings into the server's own names. #missing lists
    # the settings that the server does not have.
    #
    #   workers        processes
    #   threads        per worker; unicorn has one
    #   preload        the master loads the application
    #   request_limit  seconds that one request may take
    #   worker_limit   seconds without progress after which a worker is replaced
    #   graceful_limit seconds within which a worker must end
    #   boot_limit     seconds within which a worker must become ready
    #   spool_max      disk space for responses and requests
    class Contestant
      APP = File.join(Bench::Contestants::APPS, "faults.ru")
      LIMITS = %i[request_limit worker_limit graceful_limit boot_limit spool_max].freeze
      # The signal for a graceful stop.
      STOP = :TERM
      KEEPS_ALIVE = true

      attr_reader :settings

      # dir: for the server's files. settings: see above.
      def initialize(address, dir, settings)
        @address = address
        @dir = dir
        @settings = { preload: true, threads: 1, **settings }
      end

      def name = self.class.name.split("::").last.downcase
      def env = Bench::Build.gems_of(File.join(Bench::Contestants::ROOT, "bench/peers/Gemfile"))
      def missing = wanted.keys - words.keys
      def stop_signal = self.class::STOP
      def keeps_alive? = self.class::KEEPS_ALIVE
      # The limits under the server's own names: "worker_timeout 3".
      def limits = wanted.filter_map { |key, value| words[key]&.then { |word| "#{word} #{value}" } }.uniq

      private

      def words = self.class::WORDS
      def wanted = @settings.slice(*LIMITS)
      def file(name, *lines) = File.join(@dir, name).tap { |path| File.write(path, lines.join("\n")) }
    end

    # Ours.
    class Bontebok < Contestant
      WORDS = { request_limit: "--request-timeout", worker_limit: "--worker-timeout",
                graceful_limit: "--graceful-timeout", boot_limit: "--worker-boot-timeout",
                spool_max: "--spool-max" }.freeze

      def env = Bench::Build.gems_of(File.join(Bench::Contestants::ROOT, "Gemfile"))

      def command
        [*own_command[0..-2],
         "--preload=#{@settings[:preload]}", "--restart-file", restart_file, "--spool-dir", @dir,
         *limits.flat_map(&:split), APP]
      end

      # Starts a new generation of workers.
      def restart(_pid) = File.write(restart_file, "")

      private

      def own_command
        Bench::Contestants.ours(@address, @settings[:workers], APP, @settings[:threads]).first.command
      end

      # Uses only options that --help shows, so that an older revision can be measured, too.
      def words
        @words ||= help.then { |help| WORDS.select { |_key, word| help.match?(/#{word}\b/) } }
      end

      # An older revision has no `--help all`, and prints all options without it.
      def help
        [[], ["all"]].map do |topic|
          IO.popen([env, RbConfig.ruby, File.join(Bench::Contestants::ROOT, "exe/bontebok"), "--help", *topic], &:read)
        end.join
      end

      def restart_file = File.join(@dir, "restart")
    end

    # Puma in cluster mode. A phased restart starts a new generation, and requires that each worker loads the
    # application.
    class Puma < Contestant
      WORDS = { worker_limit: "worker_timeout", graceful_limit: "worker_shutdown_timeout",
                boot_limit: "worker_boot_timeout" }.freeze

      def command
        config = file("puma.rb", "workers #{@settings[:workers]}", "threads #{@settings[:threads]}",
                      "bind 'tcp://#{@address}'", "preload_app! #{@settings[:preload]}",
                      "worker_check_interval 1", *directives)
        ["bundle", "exec", "puma", "-q", "-e", "production", "-C", config, APP]
      end

      def restart(pid) = Process.kill(:USR1, pid)

      private

      def directives = limits
    end

    # Puma with the gem rack-timeout in the application, which limits requests.
    class PumaRackTimeout < Puma
      WORDS = { **Puma::WORDS, request_limit: "service_timeout" }.freeze

      def name = "puma+rack-timeout"
      def env = { **super, "BENCH_SERVICE_TIMEOUT" => @settings[:request_limit].to_s }

      private

      # Puma's file has the other limits.
      def directives = super.grep_v(/\Aservice_timeout /)
    end

    # A new generation has a second master. The old master's workers serve until somebody ends it.
    class Unicorn < Contestant
      WORDS = { request_limit: "timeout", worker_limit: "timeout" }.freeze
      # unicorn's least timeout, in seconds.
      LEAST = 3
      STOP = :QUIT
      KEEPS_ALIVE = false

      def command
        config = file("unicorn.rb", "worker_processes #{@settings[:workers]}", "listen '#{@address}'",
                      "preload_app #{@settings[:preload]}", "pid '#{File.join(@dir, 'unicorn.pid')}'", *limits)
        ["bundle", "exec", "unicorn", "-E", "none", "-c", config, APP]
      end

      def restart(pid) = Process.kill(:USR2, pid)

      private

      def wanted = super.transform_values { |value| value.is_a?(Integer) ? [value, LEAST].max : value }
    end

    CONTESTANTS = { "bontebok" => Bontebok, "puma" => Puma, "puma+rack-timeout" => PumaRackTimeout,
                    "unicorn" => Unicorn }.freeze
  end
end
