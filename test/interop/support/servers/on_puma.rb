# frozen_string_literal: true

require_relative "puma"

module Interop
  # Serves the application of a test with puma. OnBontebok has the same methods.
  module OnPuma
    # directory: the working directory, with config.ru. rackup: another rackup file. workers: 0 is one process.
    def start_server(directory:, env:, rackup: "config.ru", workers: 0, threads: 1)
      server = Puma.new(directory, args: ["-w", workers, "-t", "#{threads}:#{threads}", rackup], env: env)
      children << server
      server.wait_until_ready
    end

    # Starts a server whose workers can be replaced.
    def start_replaceable_server(**options)
      start_server(**options)
    end

    # New workers load the application and replace all workers. Returns the given process ids.
    def replace(server, workers)
      server.signal("USR1")
      workers
    end

    # The workers with these process ids end, and puma starts other workers. Returns the process ids.
    def recycle(_server, workers)
      workers.each { |pid| Process.kill("TERM", pid) }
    end
  end
end
