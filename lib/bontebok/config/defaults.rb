# frozen_string_literal: true

require_relative "../system/file_name"
require_relative "../system/loopback"
require_relative "../usage_error"

module Bontebok
  # The defaults that depend on the system or on other options. Each method gets the Config, and may ask it for other
  # options. Used by Sources.
  module Defaults
    PORT = 9292
    # Threads of a single process in development. A page may request another page from the same server.
    DEVELOPMENT_THREADS = 3
    # Threads of a worker with Rails, and the source of this number (docs/decisions/0028-rails-has-three-threads.md).
    RAILS_THREADS = 3
    RAILS = "default for Rails"

    class << self
      # The default of each option but `listen`.
      def of(option, config)
        case option.key
        when :tag then File.basename(Dir.pwd).b.gsub(/[^\x20-\x7e]/n, "?")
        when :control then control(config)
        when :hijack_timeout then config[:graceful_timeout]
        when :max_workers, :threads, :worker_timeout then of_environment(option, config)
        else option.default
        end
      end

      # Whether this option has another default for Rails.
      def for_rails?(option, config)
        option.key == :threads && rails? && !one_for_development?(config)
      end

      def hosts(config)
        config.development? ? Loopback.addresses : ["0.0.0.0"]
      end

      private

      # Other frameworks have a file with this name, too.
      def rails?
        File.binread("config/application.rb").include?("Rails::Application")
      rescue SystemCallError
        false
      end

      def of_environment(option, config)
        case option.key
        when :max_workers then config.development? ? 0 : option.default
        when :threads then one_for_development?(config) ? DEVELOPMENT_THREADS : option.default
        when :worker_timeout then config.development? ? 0 : 60_000
        end
      end

      def one_for_development?(config) = config.development? && config.workers.zero?

      # The name of the working directory can be a link (Capistrano's `current`), which leads to another release later.
      # So the default is in the directory that the link leads to now.
      def control(config)
        path = FileName.absolute("tmp/bontebok.control")
        tmp?(config) && path.bytesize <= FileName::LONGEST_SOCKET ? path : config.control_places.own
      end

      # Whether the user of the application can write to the directory tmp. The supervisor is root, a master is not, and
      # both must have the same default.
      def tmp?(config)
        return false unless File.directory?("tmp")

        Process.euid.zero? ? config.account.act { File.writable?("tmp") } : File.writable?("tmp")
      rescue UsageError, SystemCallError
        false
      end
    end
  end
end
