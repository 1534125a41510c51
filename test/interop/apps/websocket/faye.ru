# frozen_string_literal: true

# Echoes each WebSocket message, with faye-websocket: EventMachine watches the hijacked sockets. Other requests get the
# number of open WebSockets.

require "faye/websocket"
require_relative "../hijack_lint"

open = 0

use HijackLint
run(lambda { |env|
  next [200, { "content-type" => "text/plain" }, [open.to_s]] unless Faye::WebSocket.websocket?(env)

  socket = Faye::WebSocket.new(env)
  socket.on(:open) { open += 1 }
  socket.on(:message) { |event| socket.send(event.data) }
  socket.on(:close) { open -= 1 }
  socket.rack_response
})
