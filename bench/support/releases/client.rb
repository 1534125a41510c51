# frozen_string_literal: true

require "io/wait"
require_relative "../faults/connection"

module Bench
  module Releases
    # A client with one request at a time.
    class Client
      TIMEOUT = 10 # seconds
      FIELDS = { false => "close", true => "keep-alive" }.freeze
      # result: as in Faults::Connection, or :unanswered. port: the client's. began, ended: times.
      Answer = Struct.new(:result, :body, :port, :began, :ended)

      # address: "127.0.0.1:PORT". kept: whether the connection is kept alive.
      def initialize(address, kept:)
        @address = address
        @kept = kept
        @text = "GET / HTTP/1.1\r\nHost: bench\r\nConnection: #{FIELDS.fetch(kept)}\r\n\r\n"
      end

      # Returns an Answer. A kept connection that the server has closed is replaced before the request.
      def ask
        began = now
        connect unless @connection&.open?
        port = @connection.socket.local_address.ip_port
        @connection.ask(@text)
        result = wait(began + TIMEOUT)
        body = @connection.body if result == :ok
        close unless @kept && @connection.kept?
        Answer.new(result, body, port, began, now)
      end

      def close
        @connection&.close
        @connection = nil
      end

      private

      def connect
        close
        @connection = Faults::Connection.new(@address)
      end

      def wait(limit)
        until @connection.result
          rest = limit - now
          return :unanswered unless rest.positive?

          socket = @connection.socket
          ready = @connection.connecting? ? socket.wait_writable(rest) : socket.wait_readable(rest)
          @connection.step if ready
        end
        @connection.result
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
