# frozen_string_literal: true

require "io/wait"
require "socket"

require_relative "control_message"
require_relative "../../start_error"

module Bontebok
  # A connection to the control socket, as a command sees it. Raises StartError if no server takes commands there.
  class ControlConnection
    # Seconds between two calls of `idle`.
    INTERVAL = 0.2

    attr_reader :path

    # path: the control socket.
    def initialize(path)
      @path = path
      @socket = guard { UNIXSocket.new(path) }
    end

    # Sends the request, yields each message of the server, a Hash, and closes the connection. idle: is called again and
    # again until the last message has arrived; nil: nothing is called.
    def ask(request, idle: nil)
      write(request)
      loop do
        idle.call until idle.nil? || wait(INTERVAL)
        yield(message = read || break)
        break if message["status"]
      end
    ensure
      close
    end

    # A server that refuses the user does not read the request (EPIPE).
    def write(request)
      guard { @socket.write(ControlMessage.line(request)) }
    rescue Errno::EPIPE
      nil
    end

    # Returns nil if no message has arrived after the seconds.
    def wait(seconds)
      @socket.wait_readable(seconds)
    end

    # Returns the next message; nil: the server has closed the connection.
    def read
      guard { @socket.gets&.then { |line| ControlMessage.parse(line) } }
    end

    # The number of the user who runs the server.
    def user
      guard { @socket.getpeereid.first }
    end

    # The file name under which the server has created the socket.
    def name
      guard { File.basename(@socket.peeraddr[1]) }
    end

    # Returns nil.
    def close
      @socket.close
    end

    private

    def guard
      yield
    rescue Errno::EPIPE
      raise
    rescue Errno::ENOENT, Errno::ECONNREFUSED, Errno::ENOTSOCK
      raise StartError, "no server takes commands at #{@path}"
    rescue SystemCallError, ArgumentError => e # ArgumentError: a path that is too long
      raise StartError, "cannot reach the server at #{@path}: #{e.message}"
    rescue ControlMessage::Invalid => e
      raise StartError, "the server at #{@path} sends something else: #{e.message}"
    end
  end
end
