# frozen_string_literal: true

# Echoes each WebSocket message, with async-websocket: a response 101 with a body that reads and writes. The body holds
# its thread until the WebSocket ends. Other requests get the number of open WebSockets.

require "async/websocket/adapters/rack"
require "rack/lint"

open = 0

use Rack::Lint
run(lambda { |env|
  upgraded = Async::WebSocket::Adapters::Rack.open(env) do |connection|
    open += 1
    while (message = connection.read)
      connection.write(message)
      connection.flush
    end
  rescue EOFError, SystemCallError, Protocol::WebSocket::ClosedError
    nil # the client has gone
  ensure
    open -= 1
  end
  upgraded || [200, { "content-type" => "text/plain" }, [open.to_s]]
})
