# frozen_string_literal: true

require_relative "../machine/cpus"

module Bontebok
  module ConfigStyles
    # The object `@config` of a file for puma, for files that read the values that they have set.
    class PumaOptions
      # { puma's name => key of OptionTable }
      KEYS = { min_threads: :threads, max_threads: :threads, preload_app: :preload,
               binds: :listen, worker_shutdown_timeout: :graceful_timeout,
               persistent_timeout: :keepalive_timeout }.freeze

      # configuration: the ConfigFile.
      def initialize(configuration)
        @configuration = configuration
      end

      # A Hash with puma's names. An option that the file has not set is missing, except the number of workers.
      def options
        same = @configuration.entries.transform_values(&:value).merge(workers: workers)
        KEYS.each_with_object(same) { |(name, key), all| all[name] = same[key] if same.key?(key) }
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
