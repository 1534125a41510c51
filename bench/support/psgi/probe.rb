# frozen_string_literal: true

require "socket"

module Bench
  module Psgi
    # Finds out what a server does with a connection after a response.
    class Probe
      # Seconds for a response. Starman drops a silent connection after 1 s, and then serves the next client.
      LIMIT = 0.7
      REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
      CLOSES = "closes"
      HOLDS = "holds a worker"

      # address: "/path" or "127.0.0.1:PORT". workers: how many serve.
      def initialize(address, workers)
        @address = address
        @workers = workers
        @sockets = []
      end

      # CLOSES; HOLDS, if nobody else is served while each worker has a kept connection; nil if the server does neither.
      def fault
        first = connect
        return CLOSES unless Array.new(2) { answers?(first) }.all?

        HOLDS unless Array.new(@workers) { answers?(connect) }.all?
      ensure
        @sockets.each(&:close)
      end

      private

      def connect
        @sockets << (@address.start_with?("/") ? UNIXSocket.new(@address) : TCPSocket.new(*@address.split(":")))
        @sockets.last
      end

      # False if the response does not come in time, or if the connection ends.
      def answers?(socket)
        socket.write(REQUEST)
        received = +""
        until received.include?("World!\n")
          return false unless socket.wait_readable(LIMIT)

          received << socket.readpartial(4096)
        end
        true
      rescue SystemCallError, EOFError
        false
      end
    end
  end
end
