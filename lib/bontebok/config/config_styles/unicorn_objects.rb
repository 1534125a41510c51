# frozen_string_literal: true

require_relative "stand_in"
require_relative "unicorn_defaults"

module Bontebok
  module ConfigStyles
    # The constant Unicorn of a file for unicorn, and the arguments of its hooks. They have those methods of unicorn's
    # objects that files and hooks usually call.
    module UnicornObjects
      extend StandIn

      # A file may change the default logger.
      module Configurator
        extend StandIn

        DEFAULTS = UnicornDefaults::Settings.new
      end

      # A file may set defaults of env.
      module HttpRequest
        extend StandIn

        DEFAULTS = UnicornDefaults::Env.new
      end

      # A worker. nr counts from 0. pitchfork's mold has no nr, and serves no requests.
      Worker = Struct.new(:nr, :pid, :requests_count) do
        # pitchfork forks workers from other workers. Here all workers belong to its first generation.
        def generation = 0

        # pitchfork's text about the worker, for logs.
        def to_log
          "#{nr ? "worker=#{nr}" : 'mold'} gen=#{generation}#{" pid=#{pid}" if pid}"
        end

        # Without this error, the application would continue to run as root.
        def user(*) = raise(NotImplementedError, "worker.user is not available: use the directive `user`")
      end

      # The server object, the first argument of hooks.
      class HttpServer
        extend StandIn

        # The command that unicorn executes for a new release. It has no effect here.
        START_CTX = { 0 => $PROGRAM_NAME, argv: [], cwd: Dir.pwd } # rubocop:disable Style/MutableConstant

        attr_writer :logger

        def initialize(configuration)
          @configuration = configuration
        end

        def logger
          @logger ||= Configurator::DEFAULTS[:logger]
        end

        # unicorn's workers may have listeners of their own.
        def listen(address, *)
          logger.warn("server.listen #{address} has no effect: all workers have the same listeners")
        end

        def worker_processes
          @configuration[:max_workers]
        end

        # The path of the pid file, as in unicorn.
        def pid
          @configuration[:pidfile]
        end

        # The part of unicorn's configuration that hooks use.
        def config
          { pid: pid, worker_processes: worker_processes, timeout: @configuration[:request_timeout] }
        end
      end
    end
  end
end
