# frozen_string_literal: true

require_relative "stand_in"

module Bontebok
  module ConfigStyles
    # The constant Puma of a file for puma. Some files compare puma's version, or read puma's defaults.
    module PumaObjects
      extend StandIn

      # Constants of puma.
      module Const
        extend StandIn

        # The directives of this version are known. Some files work around faults of versions below 6.
        VERSION = PUMA_VERSION = "8.0.0"
      end

      # A file may read puma's defaults.
      module Configuration
        extend StandIn

        NOT_AVAILABLE = ->(_, name) { raise KeyError, "the default of #{name} is not available: write the value" }
        private_constant :NOT_AVAILABLE

        # The defaults of options that this server knows, too.
        DEFAULTS = Hash.new(&NOT_AVAILABLE).update(
          binds: ["tcp://[::]:9292"], early_hints: nil, environment: "development", first_data_timeout: 30,
          http_content_length_limit: nil, log_requests: false, max_keep_alive: 999, max_threads: 5, min_threads: 0,
          persistent_timeout: 65, rackup: "config.ru", tcp_host: "::", tcp_port: 9292, worker_boot_timeout: 60,
          worker_shutdown_timeout: 30, worker_timeout: 60, workers: 0
        ).freeze
      end
    end
  end
end
