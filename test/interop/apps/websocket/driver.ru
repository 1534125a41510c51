# frozen_string_literal: true

# Echoes each WebSocket message, with websocket-driver: one thread waits for all hijacked sockets with IO.select. Other
# requests get the number of open WebSockets.

require_relative "../hijack_lint"
require_relative "hijacked_socket"

added = Queue.new
wake_reader, wake_writer = nil

# The thread starts with the first WebSocket, because a thread of the master does not live in a worker.
serve = lambda do
  wake_reader, wake_writer = IO.pipe
  Thread.new do
    sockets = {}
    loop do
      ready, = IO.select([wake_reader, *sockets.keys])
      wake_reader.read_nonblock(4096) if ready.delete(wake_reader)
      ready.each { |io| sockets.delete(io) unless sockets[io].receive }
      until added.empty?
        socket = added.pop
        sockets[socket.io] = socket
      end
    end
  end
end

use HijackLint
run(lambda { |env|
  next HijackedSocket.tell unless WebSocket::Driver.websocket?(env)

  serve.call unless wake_writer
  socket = HijackedSocket.new(env)
  socket.start
  added << socket
  wake_writer.write(".")
  [-1, {}, []]
})
