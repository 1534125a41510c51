# frozen_string_literal: true

require "socket"

module Bench
  module Waits
    # A client that measures how long it waits for a response. It keeps its connection, if the server does.
    class Client
      # status: 200; nil without a complete response. seconds: from the request, with the connect if there was one.
      Answer = Struct.new(:status, :seconds)

      # address: "/path" or "127.0.0.1:PORT".
      def initialize(address)
        @address = address
      end

      # limit: seconds.
      def ask(path, limit)
        began = now
        connect unless open?
        @socket.write("GET #{path} HTTP/1.1\r\nHost: waits\r\n\r\n")
        Answer.new(read_status(began + limit), now - began)
      rescue SystemCallError, EOFError
        Answer.new(nil, now - began)
      end

      # The same in a thread. Its value is the answer.
      def begin_to_ask(path, limit) = Thread.new { ask(path, limit) }

      def close = @socket&.close

      private

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      def connect
        close
        @socket = @address.start_with?("/") ? UNIXSocket.new(@address) : TCPSocket.new(*@address.split(":"))
      end

      def open?
        !@socket.nil? && @socket.read_nonblock(1, exception: false) == :wait_readable
      rescue SystemCallError
        false
      end

      # nil if the response is not complete at this time.
      def read_status(time)
        received = +""
        until complete?(received)
          left = time - now
          return unless left.positive? && @socket.wait_readable(left)

          received << @socket.readpartial(4096)
        end
        Integer(received[/\AHTTP\S+ (\d+)/, 1])
      end

      def complete?(received)
        head, body = received.split("\r\n\r\n", 2)
        !body.nil? && body.bytesize >= head[/^content-length: *(\d+)/i, 1].to_i
      end
    end
  end
end
