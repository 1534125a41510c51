# frozen_string_literal: true

require_relative "puma"

module Interop
  # Serves the application of a test with puma. OnBontebok has the same methods.
  module OnPuma
    # directory: the working directory, with config.ru. rackup: another rackup file. workers: 0 is one process.
    def start_server(directory:, env:, rackup: "config.ru", workers: 0, threads: 1, limit: 10)
      server = Puma.new(directory, args: ["-w", workers, "-t", "#{threads}:#{threads}", rackup], env: env)
      children << server
      server.wait_until_ready(limit)
    end

    # Starts a server whose workers can be replaced.
    def start_replaceable_server(**options)
      start_server(**options)
    end

    # New workers load the application and replace all workers.
    def replace_workers(server)
      server.signal("USR1")
    end

    # One worker ends, and puma starts another one.
    def recycle_worker(server)
      Process.kill("TERM", Integer(server.get("/pid").body))
    end
  end
end
