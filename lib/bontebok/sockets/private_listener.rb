# frozen_string_literal: true

require "socket"

require_relative "duped_descriptor"
require_relative "../system/no_signal"

module Bontebok
  # A listener to which only this process connects: an abstract unix socket whose name the kernel chooses (unix(7),
  # autobind). A worker sends its own requests through it.
  class PrivateListener
    # Bytes that are read of a response.
    LONGEST = 64 * 1024

    # Raises SystemCallError.
    def initialize
      @socket = Socket.new(:UNIX, :STREAM)
      @socket.bind([Socket::AF_UNIX].pack("S"))
      @socket.listen(1)
    end

    # Returns a copy of the descriptor, which the core owns.
    def descriptor
      DupedDescriptor.new(@socket).fileno
    end

    # Sends the text of a request, and returns the response until the server closes the connection.
    def ask(request)
      client = Socket.new(:UNIX, :STREAM)
      client.connect(@socket.local_address)
      client.send(request, NoSignal::FLAG)
      client.read(LONGEST).to_s
    ensure
      client&.close
    end

    def close
      @socket.close
    end
  end
end
