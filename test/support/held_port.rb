# frozen_string_literal: true

require "socket"

module Support
  # A port that the kernel gives to no other process while a test uses its number. A server can still bind the port,
  # because the socket of this class has SO_REUSEADDR and does not listen.
  class HeldPort
    attr_reader :number

    # host: "::" reserves the port for IPv4 and for IPv6.
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
