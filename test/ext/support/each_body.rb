# frozen_string_literal: true

module Support
  # For tests of a body whose `each` hands out its block, so that other threads can call the block.
  module EachBody
    # A body whose parts come from any thread: `each` hands its block out, and returns when it is told to.
    class Body
      attr_reader :blocks, :ends

      def initialize
        @blocks = Queue.new
        @ends = Queue.new
      end

      def each(&block)
        @blocks << block
        order = @ends.pop
        order.call(block) if order.respond_to?(:call)
      end
    end

    LARGE = 20_000_000
    # Neither memory nor the spool has room, so a thread waits for its client.
    NO_ROOM = { response_buffer: 10_000, spool_max: 1 }.freeze

    private

    # Yields a client, the body of its response, the block of the body's `each`, and the server.
    def with_body(**options)
      body = Body.new
      server = serve(**options) { |env| env["PATH_INFO"] == "/ok" ? LaneCase::OK : [200, {}, body] }
      server.connect do |client|
        client.request("GET", "/")
        yield client, body, body.blocks.pop, server
      end
    end

    # Returns a thread that has ended, or that waits in the block.
    def waiting_or_done(&)
      thread = Thread.new(&)
      eventually("the wait of a thread") { thread.stop? }
      thread
    end

    # Returns the value of the block, or the class of its exception.
    def outcome_of
      yield
    rescue IOError => e
      e.class
    end
  end
end
