# frozen_string_literal: true

require "logger"

module Bontebok
  module ConfigStyles
    # The arguments of hooks in a file for unicorn. They have those methods of unicorn's objects that hooks usually
    # call.
    module UnicornObjects
      # A worker. nr counts from 0.
      Worker = Struct.new(:nr, :pid)

      # The server object, the first argument of hooks.
      class Server
        attr_writer :logger

        def initialize(configuration)
          @configuration = configuration
        end

        def logger
          @logger ||= Logger.new($stderr)
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
