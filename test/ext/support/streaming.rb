# frozen_string_literal: true

module Support
  # For tests of streams that outlive the call of their body.
  module Streaming
    # Starts a server whose application keeps the stream of a request for /stream. Sends this request. The block gets
    # the client, the stream and the server.
    def with_stream
      streams = Queue.new
      app = ->(env) { env["PATH_INFO"] == "/stream" ? [200, {}, ->(stream) { streams << stream }] : LaneCase::OK }
      server = serve(app)
      server.connect do |client|
        client.request("GET", "/stream")
        await_stream(server)
        yield client, streams.pop, server
      end
    end

    # Waits for the report that the stream has outlived its request.
    def await_stream(server)
      assert_equal :detached, server.next_report.level
    end

    # Overwrites the thread's C stack, in which the garbage collector could find a reference to the stream. Array#each
    # is a function in C.
    def dive(depth)
      depth.zero? || [depth - 1].each { |less| dive(less) }
    end
  end
end
