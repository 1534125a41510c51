# frozen_string_literal: true

require "rack"
require "bontebok/bontebok"
require "bontebok/config/config"
require "bontebok/workers/rack_env"

module Support
  # Serves an application with the Ruby binding alone: one worker and its lanes. Each lane runs in a thread of the
  # test's process.
  class LaneServer
    Report = Struct.new(:level, :message, :error)

    CONFIG = Bontebok::Config.new({ max_workers: ["0"], early_hints: ["on"] }, env: {})

    # The base env that lib passes to Lane.new. It depends on the version of Rack.
    def self.base_env = Bontebok::RackEnv.fixed(CONFIG)

    attr_reader :worker, :lanes, :address, :threads

    # listener: a listening socket; the worker owns the socket. name, port: the server's name and port for requests
    # without Host. siblings: the descriptors of a shared queue, and a Scoreboard. The worker shares both with other
    # workers. public: a Core::Public.
    def initialize(app, listener, address, name: "localhost", port: 80, settings: {}, count: 1, siblings: nil,
                   public: nil, **options)
      @address = address
      @reports = Queue.new
      @worker = Bontebok::Core::Worker.new(settings)
      listener.autoclose = false
      @worker.listen(listener.fileno, name, port)
      connect_with(*siblings) if siblings
      @worker.public(public) if public
      @worker.start_io_thread
      @lanes = Array.new(count) do
        make_lane(app, options)
      end
      @threads = @lanes.map { |lane| Thread.new { serve(lane) } }
    end

    def connect(&block)
      Client.open(address, &block)
    end

    # Sends one request on a new connection. Returns the Response.
    def request(method, target, fields = {}, body = nil)
      connect do |client|
        client.request(method, target, fields, body)
        client.read_response(to: method)
      end
    end

    def get(target = "/", fields = {})
      request("GET", target, fields)
    end

    # Sends these bytes on a new connection. Returns the Response.
    def raw(bytes)
      connect do |client|
        client.write(bytes)
        client.read_response
      end
    end

    # Waits until `count` requests have ended since the start of the worker. A client gets its response earlier: before
    # the body is closed, and before the lane serves its other connections.
    def await_requests(count, limit = Deadline::DEFAULT_SECONDS)
      Eventually.eventually("the end of #{count} requests", limit: limit) { worker.requests >= count }
    end

    # Waits for the next report and returns it.
    def next_report(limit = Deadline::DEFAULT_SECONDS)
      ::Timeout.timeout(limit * Deadline::FACTOR) { @reports.pop }
    end

    # Returns the reports that the test has not read yet.
    def reports
      Array.new(@reports.size) { @reports.pop }
    end

    # Drains the worker. Returns the result of each Lane#serve, or raises the exception of a lane.
    def stop(limit = Deadline::DEFAULT_SECONDS)
      worker.drain
      wait(limit)
    end

    # Waits for the end of the lanes without draining the worker. Returns and raises the same as #stop.
    def wait(limit = Deadline::DEFAULT_SECONDS)
      deadline = Deadline.for(limit)
      threads.map do |thread|
        raise Support::Timeout, "a lane goes on:\n#{thread.backtrace&.join("\n")}" unless thread.join(deadline.left)

        thread.value
      end
    end

    private

    def connect_with(queue, board)
      worker.share_queue(*queue) unless Bontebok::Core::PORTABLE
      worker.scoreboard(board)
    end

    def make_lane(app, options)
      lane = nil
      env = Bontebok::RackEnv.of_lane(CONFIG) { lane }
      options = { env: env, report: method(:report), asterisk: Bontebok::RackEnv.asterisk?, **options }
      lane = Bontebok::Core::Lane.new(@worker, app, **options)
    end

    def serve(lane)
      Thread.current.report_on_exception = false
      lane.serve
    end

    def report(level, message, error)
      @reports << Report.new(level, message, error)
    end
  end
end
