# frozen_string_literal: true

module Support
  # For tests of request bodies that the application reads while they come (unbuffered_bodies).
  module Unbuffered
    UNBUFFERED = { settings: { unbuffered_bodies: "/", max_body: 10_000_000 } }.freeze
    HEAD = "POST / HTTP/1.1\r\nHost: test\r\n"
    LENGTH = "#{HEAD}Content-Length: 6\r\n\r\n".freeze
    CHUNKED = "#{HEAD}Transfer-Encoding: chunked\r\n\r\n".freeze

    private

    # Sends the head of a request. Calls the block with rack.input and the client within the request.
    def with_body_to_come(head)
      inputs = Queue.new
      done = Queue.new
      server = serve(**UNBUFFERED) { |env| (inputs << env["rack.input"]) && done.pop && LaneCase::OK }
      server.connect do |client|
        client.write(head)
        yield inputs.pop, client
      ensure
        done << true
      end
    end
  end
end
