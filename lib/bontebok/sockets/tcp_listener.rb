# frozen_string_literal: true

require_relative "listener"

module Bontebok
  # Listens on one IPv4 or IPv6 address.
  class TcpListener < Listener
    # Without it the kernel holds a small response back until the last one is acknowledged.
    NO_DELAY = [Socket::IPPROTO_TCP, Socket::TCP_NODELAY, true].freeze

    class << self
      # Returns a listener for each address of the name. Raises StartError.
      def for(address, **options)
        resolve(address).map { |info| new(address, info, **options) }
      end

      # Sets options that connected sockets inherit. defer_accept: about how many seconds the kernel keeps a connection
      # to itself while the client has sent nothing (TCP_DEFER_ACCEPT); 0 changes nothing.
      def set_options(socket, defer_accept:)
        socket.setsockopt(*NO_DELAY)
        socket.setsockopt(:TCP, :DEFER_ACCEPT, defer_accept) if defer_accept.positive?
      end

      private

      # A numeric address is taken as it is. A name may have addresses that this machine does not have: in /etc/hosts,
      # localhost may be ::1 also on a machine without IPv6. Such addresses are left out, unless the machine has none of
      # the name's addresses.
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

    # v6_only: another listener has the IPv4 part of [::].
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

    # Connections inherit SO_REUSEADDR. With it, connections in TIME_WAIT do not keep the next server from the port.
    def listen
      reuse_address(true)
      super
    end

    def to_s
      Address.new(host: @info.ip_address, port: @info.ip_port).to_s
    end

    private

    # With SO_REUSEADDR, many sockets can bind a port until one listens, if all of them have the option. So the option
    # is set only for the bind, and only if the bind fails without it because of a former server's connections. If a
    # second server starts while this one loads its application, the second one fails at its bind.
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
      # Whatever the system's default is, [::] has both families, and ::ffff:127.0.0.1 is an address.
      socket.setsockopt(:IPV6, :V6ONLY, @v6_only) if @info.ipv6?
    end
  end
end
