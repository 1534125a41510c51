# frozen_string_literal: true

require_relative "listener"

module Bontebok
  # Listens on one IPv4 or IPv6 address.
  class TcpListener < Listener
    # Connected sockets inherit it: without it the kernel holds a small answer back until the last one is acknowledged.
    NO_DELAY = [Socket::IPPROTO_TCP, Socket::TCP_NODELAY, true].freeze

    class << self
      # A name stands for all its addresses. Raises StartError.
      def for(address, backlog:, reuse_port:)
        resolve(address).map { |info| new(address, info, backlog: backlog, reuse_port: reuse_port) }
      end

      private

      # Of a name's addresses those are left out that this machine has no interface for (AI_ADDRCONFIG); what is
      # written as an address is taken as it is.
      def resolve(address)
        lookup(address, Socket::AI_NUMERICHOST)
      rescue SocketError
        begin
          lookup(address, Socket::AI_ADDRCONFIG)
        rescue SocketError => e
          raise StartError, "cannot listen on #{address}: #{e.message}"
        end
      end

      def lookup(address, flag)
        Addrinfo.getaddrinfo(address.host, address.port, nil, :STREAM, nil, flag).uniq(&:ip_address)
      end
    end

    def initialize(address, info, backlog:, reuse_port:)
      super(address, backlog: backlog)
      @info = info
      @reuse_port = reuse_port
    end

    def bind
      explained do
        @socket = Socket.new(@info.pfamily, Socket::SOCK_STREAM)
        set_options
        socket.bind(@info)
        @info = socket.local_address
      end
    end

    # SERVER_NAME of a request without Host. An address that stands for all of them names none.
    def server_name
      return "localhost" if %w[0.0.0.0 ::].include?(@info.ip_address)

      @info.ipv6? ? "[#{@info.ip_address}]" : @info.ip_address
    end

    def server_port
      @info.ip_port
    end

    def to_s
      Address.new(host: @info.ip_address, port: @info.ip_port).to_s
    end

    private

    # SO_REUSEADDR: connections of a former server that linger in TIME_WAIT do not keep us from the port.
    def set_options
      socket.setsockopt(:SOCKET, :REUSEADDR, true)
      socket.setsockopt(:SOCKET, :REUSEPORT, true) if @reuse_port
      socket.setsockopt(*NO_DELAY)
      # [::] is both families, whatever the system's default.
      socket.setsockopt(:IPV6, :V6ONLY, @info.ip_address != "::") if @info.ipv6?
    end
  end
end
