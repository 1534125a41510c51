# frozen_string_literal: true

require "socket"

module Support
  # A port that no other process gets by chance while a test uses its number. A server can bind it: the socket that
  # holds it has SO_REUSEADDR and does not listen.
  class HeldPort
    attr_reader :number

    # host "::" holds the port of both families.
    def initialize(host)
      @socket = Socket.new(host.include?(":") ? :INET6 : :INET, :STREAM)
      @socket.setsockopt(:IPV6, :V6ONLY, false) if host.include?(":")
      @socket.setsockopt(:SOCKET, :REUSEADDR, true)
      @socket.bind(Addrinfo.tcp(host, 0))
      @number = @socket.local_address.ip_port
    end

    def release
      @socket.close
    end
  end
end
