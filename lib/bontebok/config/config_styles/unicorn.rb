# frozen_string_literal: true

require_relative "../../system/file_name"
require_relative "../address"
require_relative "directives"
require_relative "unicorn_objects"

module Bontebok
  module ConfigStyles
    # A configuration file for unicorn. Options that the file does not set have unicorn's defaults: one worker, a
    # request_timeout of 60 s, and no preload. Without preload, workers do not share what the application opens while it
    # loads, such as a connection to a database. A worker has one thread, because unicorn's applications need not be
    # thread-safe.
    class Unicorn < Directives
      DEFAULTS = { listen: [Address.new(host: "0.0.0.0", port: 8080)], max_workers: 1, preload: false,
                   request_timeout: 60_000 }.freeze
      FIXED = { threads: 1 }.freeze
      LIBRARIES = %w[etc fileutils io/wait logger socket stringio tempfile time tmpdir].freeze
      CONSTANTS = { CGI: "cgi", Date: "date", DateTime: "date", ERB: "erb", Fcntl: "fcntl", OptionParser: "optparse",
                    OptParse: "optparse", Rack: "rack", Set: "set", StringScanner: "strscan", URI: "uri" }.freeze
      # A file may write to Unicorn::HttpServer::START_CTX, which has unicorn's own command. In unicorn, files can omit
      # `Unicorn::`.
      Unicorn = UnicornObjects
      Configurator = UnicornObjects::Configurator
      HttpRequest = UnicornObjects::HttpRequest
      HttpServer = UnicornObjects::HttpServer

      # Options of listen that are ignored. tcp_nodelay: TCP_NODELAY is always on. tries, delay: the server does not
      # wait for an address that is in use. queues, queues_per_worker: of pitchfork; all workers share a listener. The
      # other options tune the kernel.
      TUNING = %i[tcp_nodelay tcp_nopush tcp_defer_accept accept_filter sndbuf rcvbuf tries delay ipv6only queues
                  queues_per_worker].freeze

      # The hook for nil, which stands for unicorn's default. unicorn's default hooks only log.
      NO_HOOK = ->(*) {}

      LOGGER_METHODS = %i[debug info warn error fatal].freeze

      option :timeout, :request_timeout
      option :preload_app, :preload
      option :pid, :pidfile
      option :stderr_path, :log
      option :stdout_path, :stdout
      option :client_body_buffer_size, :spool_threshold
      option :check_client_connection
      option :early_hints

      # before_exec: no process of this server calls exec.
      nothing_to_do :before_exec, :rewindable_input, :default_middleware

      advise "workers are forked, and none executes a program", :worker_exec

      def initialize(configuration)
        super
        HttpRequest::DEFAULTS.configuration = configuration
        @bontebok_server = UnicornObjects::HttpServer.new(configuration)
      end

      def worker_processes(count)
        none = !nil.equal?(count) && Integer(count, exception: false)&.zero?
        @bontebok_file.refuse("worker_processes wants at least 1, as in unicorn") if none
        @bontebok_file.set(:max_workers, count)
      end

      # The same address twice is one listener, as in unicorn.
      def listen(address, options = {})
        options_of(options).compact.each { |name, value| listen_option(name, value) }
        address = spelled(address)
        @bontebok_file.add(:listen, address) unless @bontebok_file[:listen]&.include?(address)
      end

      def working_directory(path)
        @bontebok_file.enter(path)
      end

      # Without `group`, the process gets the user's group. In unicorn, the process keeps root's group.
      def user(name, group = nil)
        @bontebok_file.set(:user, name && [name, group].compact.join(":"))
      end

      # The logger is only for hooks that call `server.logger`. The server's own log is set by the option `log`.
      def logger(object)
        missing = LOGGER_METHODS.reject { |name| object.respond_to?(name) }
        @bontebok_file.refuse("logger has no #{missing.join(', ')}") if missing.any?

        @bontebok_server.logger = object
      end

      %i[before_fork after_fork after_worker_ready after_worker_exit].each do |name|
        define_method(name) { |hook = nil, &block| add_worker_hook(name, hook || block, name) }
      end

      private

      # The last hook of a name counts.
      def add_worker_hook(name, hook, directive)
        @bontebok_file.add_hook(name, hook || NO_HOOK, directive: directive, alone: true) do |worker, *others|
          [@bontebok_server, UnicornObjects::Worker.new(worker.number - 1, worker.pid, worker.requests), *others]
        end
      end

      # The options of `listen`, from any object with to_hash.
      def options_of(options)
        Hash.try_convert(options) || @bontebok_file.refuse("listen wants its options as a Hash, not #{options.class}")
      end

      def listen_option(name, value)
        case name
        when :backlog then @bontebok_file.set(:backlog, [Integer(value), @bontebok_file[:backlog]].compact.max)
        when :reuseport then @bontebok_file.set(:reuse_port, value)
        when :umask then @bontebok_file.restrict_socket(Integer(value))
        when *TUNING then nil
        else @bontebok_file.advise("#{name} of listen", "the server does not know this parameter")
        end
      end

      # The address in the notation of the option `listen`. A relative path begins in the working directory of this line
      # of the file. @ has no meaning in unicorn.
      def spelled(address)
        case address.to_s
        when %r{\A(?:unix:|[/~])} then Address::Path.new(FileName.absolute(address.to_s.delete_prefix("unix:")))
        when /\A(?:\*|):?(\d+)\z/ then "0.0.0.0:#{::Regexp.last_match(1)}"
        when /\A\[[^\]]*\]\z/, /\A\d+(?:\.\d+){3}\z/ then "#{address}:80"
        else address
        end
      end
    end
  end
end
