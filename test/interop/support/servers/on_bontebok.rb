# frozen_string_literal: true

require "fileutils"

module Interop
  # Serves the application of a test with Bontebok. OnPuma has the same methods.
  module OnBontebok
    # Requests after which a worker is recycled. No test needs as many requests for its pages.
    REQUESTS = 1000

    # directory: the working directory, with config.ru. rackup: another rackup file. workers: 0 is one process.
    def start_server(directory:, env:, rackup: "config.ru", workers: 0, threads: 1, args: [])
      start_bontebok(directory: directory, listen: :tcp, env: env,
                     args: ["-w", workers, "-t", threads, *args, rackup])
    end

    # Starts a server whose workers can be replaced.
    def start_replaceable_server(**options)
      @restart_file = temp_file("restart")
      start_server(args: ["--restart-file", @restart_file, "--max-request-per-child", REQUESTS], **options)
    end

    # A new master loads the application, and its workers replace all workers. Returns the given process ids.
    def replace(_server, workers)
      FileUtils.touch(@restart_file)
      workers
    end

    # Sends requests until the workers with these process ids are being replaced. Returns the process ids.
    def recycle(server, workers)
      eventually("the replacement of #{workers}", seen: -> { [server.output.text] }) do
        server.connect { |client| 100.times { break unless client.get("/pid").keep_alive? } }
        workers.all? { |pid| server.output.text.match?(/\(pid #{pid}\) leaves/) }
      end
      workers
    end
  end
end
