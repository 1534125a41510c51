# frozen_string_literal: true

require "socket"

module Bench
  module Faults
    # One connection of the probe (the client that measures). The connection never blocks, and has one request at a
    # time.
    class Connection
      attr_reader :socket, :result, :body

      # address: "127.0.0.1:PORT".
      def initialize(address)
        host, port = address.split(":")
        @socket = Socket.new(:INET, :STREAM)
        @socket.setsockopt(:TCP, :NODELAY, true)
        started = @socket.connect_nonblock(Socket.sockaddr_in(Integer(port), host), exception: false)
        @connected = started != :wait_writable
      rescue SystemCallError
        @result = :refused
      end

      # Sends the request when the connection is established.
      def ask(text)
        @unsent = text
        @received = +""
        @result = nil unless @result == :refused
        step if @connected
      end

      def connecting? = !@connected

      # Call step when the socket is ready. After step, #result is nil (the response is not complete), :ok, :status (not
      # 200), :refused, :reset, or :short (closed before the response was complete).
      def step
        return if @result

        @connected = true
        send_request if @unsent
        receive unless @unsent
      rescue Errno::ECONNREFUSED
        @result = :refused
      rescue EOFError
        @result = :short
      rescue SystemCallError
        @result = :reset
      end

      # Whether the server keeps the connection alive after this response.
      def kept? = @result == :ok && !@head.match?(/^connection: *close/i) && @head.start_with?("HTTP/1.1")

      # Whether the server still has the connection open.
      def open?
        @socket.read_nonblock(1, exception: false) == :wait_readable
      rescue SystemCallError
        false
      end

      def close = @socket.close

      private

      def send_request
        written = @socket.write_nonblock(@unsent, exception: false)
        return if written == :wait_writable

        @unsent = written < @unsent.bytesize ? @unsent.byteslice(written..) : nil
      end

      def receive
        part = @socket.read_nonblock(65_536, exception: false)
        return if part == :wait_readable

        @received << (part || raise(EOFError))
        @head, @body = @received.split("\r\n\r\n", 2)
        return if @body.nil? || @body.bytesize < @head[/^content-length: *(\d+)/i, 1].to_i

        @result = @head.start_with?(%r{HTTP/1\.[01] 200 }) ? :ok : :status
      end
    end
  end
end
