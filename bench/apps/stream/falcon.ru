# frozen_string_literal: true

# The application of bench/stream for Falcon. SSE: the body is a queue that Falcon reads in the request's fiber, and one
# task writes each message to all queues. WebSocket: async-websocket.

require "async"
require "async/websocket/adapters/rack"
require "protocol/http/body/writable"
require_relative "bodies"

bodies = []
started = false

broadcast = lambda do |message|
  gone = bodies.reject do |body|
    body.write(message)
    true
  rescue Protocol::HTTP::Body::Writable::Closed, IOError, SystemCallError
    false
  end
  bodies -= gone
end

run(lambda do |env|
  case env["PATH_INFO"]
  when "/sse"
    # While the task starts, other requests can run.
    unless started
      started = true
      Async::Task.current.reactor.async(transient: true) do
        Bodies.each_message { |data| broadcast.call("data: #{data}\n\n") }
      end
    end
    bodies << (body = Protocol::HTTP::Body::Writable.new)
    [200, { "content-type" => "text/event-stream", "cache-control" => "no-cache" }, body]
  when "/echo"
    Async::WebSocket::Adapters::Rack.open(env) do |connection|
      while (message = connection.read)
        connection.write(message)
        connection.flush
      end
    end
  else
    Bodies.response(env["PATH_INFO"]) || [404, {}, []]
  end
end)
