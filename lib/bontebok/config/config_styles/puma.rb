# frozen_string_literal: true

require "forwardable"
require_relative "../address"
require_relative "directives"
require_relative "puma_hooks"
require_relative "puma_listen"
require_relative "puma_objects"
require_relative "puma_options"
require_relative "puma_plugins"

module Bontebok
  module ConfigStyles
    # A configuration file for puma. Options that the file does not set have puma's defaults: all addresses, and one
    # worker with five threads. With several workers, or with the plugin solid_queue, the master loads the application
    # before the fork. Else the worker loads the application itself, because threads that the application starts while
    # it loads do not survive a fork. The hook out_of_band runs after each request, as soon as the worker has no
    # request.
    class Puma < Directives
      DEFAULTS = { listen: [Address.new(host: Address::ANY, port: 9292)], max_workers: 1, threads: 5,
                   preload: ->(config) { config.workers > 1 || config.companions.any? }, max_gc_per_request: 1 }.freeze
      FIXED = {}.freeze
      LIBRARIES = %w[etc fileutils io/wait rbconfig socket stringio tempfile time uri].freeze
      CONSTANTS = { Open3: "open3", OptionParser: "optparse", OptParse: "optparse", Set: "set" }.freeze

      # Configuration files use this constant as the name of the rackup file.
      DefaultRackup = "config.ru" # rubocop:disable Naming/ConstantName -- puma's own

      # A file may compare Puma::Const::PUMA_VERSION.
      Puma = PumaObjects

      extend Forwardable

      def_delegators :@bontebok_hooks, *PumaHooks.public_instance_methods(false)
      def_delegators :@bontebok_addresses, *PumaListen.public_instance_methods(false)
      def_delegators :@bontebok_plugins, :plugin

      option :environment
      option :directory
      option :rackup
      option :pidfile
      option :http_content_length_limit, :max_body

      nothing_to_do :queue_requests, :wait_for_less_busy_worker, :worker_check_interval, :drain_on_shutdown,
                    :max_io_threads, :io_selector_backend, :mutate_stdout_and_stderr_to_sync_on_write,
                    :raise_exception_on_sigterm, :silence_single_worker_warning, :silence_fork_callback_warning,
                    :supported_http_methods, :prune_bundler, :extra_runtime_dependencies, :nakayoshi_fork,
                    :worker_culling_strategy, :restart_command, :debug, :shutdown_debug, :state_permission

      advise "`bontebok status` shows the state of the server", :state_path
      advise "`bontebok deploy`, `stop` and `status` control the server", :activate_control_app
      advise "a service manager runs the server in the background", :daemonize
      advise "with preload_app!, all workers share the memory of the application", :fork_worker
      advise "set worker_shutdown_timeout, which limits the time for open requests", :force_shutdown_after
      advise "log_format and access_log_format are the formats of the logs", :custom_logger, :log_formatter
      advise "the proxy must send X-Forwarded-Proto", :rack_url_scheme
      advise "REMOTE_ADDR is the address of the proxy, and X-Forwarded-For has the client's", :set_remote_address
      advise "the server runs until it is stopped", :idle_timeout
      advise "set the variable SOLID_QUEUE_SUPERVISOR_MODE", :solid_queue_mode
      advise "values in Thread.current stay for the next request: set them at the beginning of each request, or use " \
             "ActiveSupport::CurrentAttributes", :fiber_per_request, :clean_thread_locals

      reject "TLS is left to a proxy", :ssl_bind
      reject "the application belongs into a rackup file", :app

      # The file reads puma's options as @options, as @config.options and with #get.
      def initialize(configuration)
        super
        @bontebok_hooks = PumaHooks.new(configuration)
        @bontebok_addresses = PumaListen.new(configuration)
        @bontebok_plugins = PumaPlugins.new(configuration)
        @options = @config = PumaOptions.new(configuration, self)
      end

      def get(name, default = nil)
        @options.fetch(name, default)
      end

      # The blocks run at the end of the file, when the number of workers is known.
      def single(&block)
        @bontebok_file.at_end { instance_eval(&block) unless @config.cluster? }
      end

      def cluster(&block)
        @bontebok_file.at_end { instance_eval(&block) if @config.cluster? }
      end

      # The number may be a Float, as in puma. Other values are checked by the option.
      def workers(count)
        @bontebok_file.set(:max_workers, Integer(count, exception: false) || count)
      end

      # This server always runs the maximum number of threads.
      def threads(least, most = least)
        least = Integer(least)
        most = Integer(most)
        @bontebok_file.refuse("threads wants the smaller number first") if least > most

        @bontebok_file.set(:threads, most)
      end

      # In puma, a tag may have any length and any characters.
      def tag(text)
        @bontebok_file.set(:tag, text && text.to_s.scrub("?").gsub(/[^\x20-\x7e]/, "?")[0, 63])
      end

      def early_hints(answer = true) # rubocop:disable Style/OptionalBooleanParameter -- puma's own form
        @bontebok_file.set(:early_hints, answer)
      end

      def preload_app!(answer = true) # rubocop:disable Style/OptionalBooleanParameter -- puma's own form
        @bontebok_file.set(:preload, answer)
      end

      # { puma's time => keys of OptionTable }
      { worker_timeout: %i[worker_timeout], worker_shutdown_timeout: %i[graceful_timeout],
        first_data_timeout: %i[header_timeout body_timeout] }.each do |directive, keys|
        define_method(directive) { |time| keys.each { |key| @bontebok_file.set(key, at_most_longest(time)) } }
      end

      def worker_boot_timeout(seconds)
        limit_boot(seconds)
      end

      def max_keep_alive(count)
        @bontebok_file.set(:max_keepalive_requests, count == Float::INFINITY ? 0 : count)
      end

      alias max_fast_inline max_keep_alive

      def persistent_timeout(seconds)
        @bontebok_file.set(:keepalive_timeout, at_most_longest(seconds)) unless @bontebok_closing
      end

      # The order of this directive and persistent_timeout does not matter.
      def enable_keep_alives(answer = true) # rubocop:disable Style/OptionalBooleanParameter -- puma's own form
        @bontebok_closing = !answer
        @bontebok_file.set(:keepalive_timeout, 0) if @bontebok_closing
      end

      # The server always appends to the files, also without the third argument.
      def stdout_redirect(stdout = nil, stderr = nil, _append = false) # rubocop:disable Style/OptionalBooleanParameter
        @bontebok_file.set(:stdout, stdout)
        @bontebok_file.set(:log, stderr)
      end

      # The format is that of Rack::CommonLogger, without the time that a request took.
      def log_requests(answer = true) # rubocop:disable Style/OptionalBooleanParameter -- puma's own form
        @bontebok_file.set(:access_log, answer ? "-" : "")
        @bontebok_file.set(:access_log_format, "common") if answer
      end

      def quiet(answer = true) # rubocop:disable Style/OptionalBooleanParameter -- puma's own form
        log_requests(!answer)
      end

      def load(path)
        @bontebok_file.evaluate(File.path(path))
      end
      alias _load_from load

      private

      # The directive may belong to a plugin that the file has named before.
      def report_unknown(directive)
        missing = @bontebok_plugins.missing or return super
        hint = hint(directive)
        @bontebok_file.advise(directive, "#{missing} not loaded#{" (#{hint})" if hint}")
      end
    end
  end
end
