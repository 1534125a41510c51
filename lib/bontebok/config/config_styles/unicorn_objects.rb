# frozen_string_literal: true

require "logger"

module Bontebok
  module ConfigStyles
    # What stands for unicorn's own objects in the hooks of a file for unicorn: as much of them as such files use.
    module UnicornObjects
      # nr counts from 0.
      Worker = Struct.new(:nr, :pid)

      # The server.
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

        # The file, as there.
        def pid
          @configuration[:pidfile]
        end

        # Of what it holds there, what hooks look for.
        def config
          { pid: pid, worker_processes: worker_processes, timeout: @configuration[:request_timeout] }
        end
      end
    end
  end
end
