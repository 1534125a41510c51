# frozen_string_literal: true

require_relative "listener"

module Bontebok
  # Listens on one IPv4 or IPv6 address.
  class TcpListener < Listener
    # Without it the kernel holds a small answer back until the last one is acknowledged.
    NO_DELAY = [Socket::IPPROTO_TCP, Socket::TCP_NODELAY, true].freeze

    class << self
      # A name stands for all its addresses. Raises StartError.
      def for(address, **options)
        resolve(address).map { |info| new(address, info, **options) }
      end

      # What connected sockets inherit. TCP_DEFER_ACCEPT: the kernel keeps a connection to itself until the client has
      # sent something, for about so many seconds; 0 changes nothing.
      def set_options(socket, defer_accept:)
        socket.setsockopt(*NO_DELAY)
        socket.setsockopt(:TCP, :DEFER_ACCEPT, defer_accept) if defer_accept.positive?
      end

      private

      # What is written as an address is taken as it is. Of a name's addresses those are left out that this machine does
      # not have, unless it has none of them: localhost is ::1 as well in files of machines without IPv6.
      def resolve(address)
        lookup(address, Socket::AI_NUMERICHOST)
      rescue SocketError
        begin
          all = lookup(address, Socket::AI_ADDRCONFIG)
        rescue SocketError => e
          raise StartError, "cannot listen on #{address}: #{e.message}"
        end
        here = all.select { |info| here?(info) }
        here.empty? ? all : here
      end

      def here?(info)
        Addrinfo.tcp(info.ip_address, 0).bind(&:close)
        true
      rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT
        false
      end

      def lookup(address, flag)
        Addrinfo.getaddrinfo(address.host, address.port, nil, :STREAM, nil, flag).uniq(&:ip_address)
      end
    end

    # v6_only: somebody else has the IPv4 part of [::].
    def initialize(address, info, backlog:, reuse_port:, defer_accept:, v6_only: false)
      super(address, backlog: backlog)
      @info = info
      @reuse_port = reuse_port
      @defer_accept = defer_accept
      @v6_only = v6_only && info.ip_address == "::"
    end

    def bind
      explained do
        @socket = Socket.new(@info.pfamily, Socket::SOCK_STREAM)
        set_options
        take_port
        @info = socket.local_address
      end
    end

    # Connections inherit it: when they linger in TIME_WAIT they are not to keep the next server from the port.
    def listen
      reuse_address(true)
      super
    end

    def to_s
      Address.new(host: @info.ip_address, port: @info.ip_port).to_s
    end

    private

    # With SO_REUSEADDR many can bind a port, if all of them say so, until one listens. So we say so only when it takes
    # that because of a former server's connections, and only for the moment: a second server that is started while
    # our application loads is refused before it loads its own.
    def take_port
      socket.bind(@info)
    rescue Errno::EADDRINUSE
      reuse_address(true)
      socket.bind(@info)
      reuse_address(false)
    end

    def reuse_address(answer)
      socket.setsockopt(:SOCKET, :REUSEADDR, answer)
    end

    def set_options
      socket.setsockopt(:SOCKET, :REUSEPORT, true) if @reuse_port
      TcpListener.set_options(socket, defer_accept: @defer_accept)
      # [::] is both families, and ::ffff:127.0.0.1 an address, whatever the system's default.
      socket.setsockopt(:IPV6, :V6ONLY, @v6_only) if @info.ipv6?
    end
  end
end
