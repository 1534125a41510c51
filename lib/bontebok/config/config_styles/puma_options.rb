# frozen_string_literal: true

require_relative "../machine/cpus"

module Bontebok
  module ConfigStyles
    # The options that a file for puma reads and sets by puma's names, as `@options[:workers]`. `@config.options` is a
    # Hash with all of them.
    class PumaOptions
      # { puma's name => key of OptionTable }
      KEYS = { min_threads: :threads, max_threads: :threads, preload_app: :preload,
               binds: :listen, worker_shutdown_timeout: :graceful_timeout,
               persistent_timeout: :keepalive_timeout, first_data_timeout: :header_timeout,
               http_content_length_limit: :max_body, max_keep_alive: :max_keepalive_requests,
               redirect_stdout: :stdout, redirect_stderr: :log }.freeze

      # { puma's name => directive that an assignment calls }
      ASSIGNED = { max_threads: :threads, preload_app: :preload_app!, early_hints: :early_hints,
                   log_requests: :log_requests }.freeze
      # Like ASSIGNED, with a directive of the same name. The value false means that the option is not set.
      ASSIGNED_UNLESS_FALSE = %i[workers environment rackup directory pidfile tag worker_timeout worker_boot_timeout
                                 worker_shutdown_timeout persistent_timeout first_data_timeout max_keep_alive
                                 http_content_length_limit].freeze

      # configuration: the ConfigFile. directives: the object with the directives.
      def initialize(configuration, directives)
        @configuration = configuration
        @directives = directives
      end

      # A Hash with puma's names. An option that the file has not set is missing, except the number of workers.
      def options
        same = @configuration.entries.transform_values(&:value).merge(workers: workers)
        KEYS.each_with_object(same) { |(name, key), all| all[name] = same[key] if same.key?(key) }
      end

      %i[[] fetch key? dig].each do |name|
        define_method(name) { |*values, &block| options.public_send(name, *values, &block) }
      end

      def []=(name, value)
        if ASSIGNED.key?(name) then @directives.public_send(ASSIGNED.fetch(name), value)
        elsif ASSIGNED_UNLESS_FALSE.include?(name) then @directives.public_send(name, value || nil)
        else @configuration.advise("@options[#{name.inspect}]", "write the directive")
        end
      end

      # True if the command line, the file or the environment sets a number of workers above 0.
      def cluster?
        workers.positive?
      end

      private

      def workers
        count = @configuration.workers || @configuration[:max_workers] || @configuration.env["WEB_CONCURRENCY"]
        count.to_s.strip == "auto" ? Cpus.new.count : count.to_i
      end
    end
  end
end
