# frozen_string_literal: true

# Echoes each WebSocket message, with websocket-driver and nio4r: one thread waits for all hijacked sockets with epoll.
# Other requests get the number of open WebSockets.

require "nio"
require_relative "../hijack_lint"
require_relative "hijacked_socket"

added = Queue.new
selector = nil

# The thread starts with the first WebSocket, because a thread of the master does not live in a worker.
serve = lambda do
  selector = NIO::Selector.new
  Thread.new do
    loop do
      selector.select do |monitor|
        io = monitor.io
        selector.deregister(io) unless io.closed? || monitor.value.receive
      end
      until added.empty?
        socket = added.pop
        selector.register(socket.io, :r).value = socket
      end
    end
  end
end

use HijackLint
run(lambda { |env|
  next HijackedSocket.tell unless WebSocket::Driver.websocket?(env)

  serve.call unless selector
  socket = HijackedSocket.new(env)
  socket.start
  added << socket
  selector.wakeup
  [-1, {}, []]
})
