# frozen_string_literal: true

require_relative "departure/socket_owner"
require_relative "host_names"
require_relative "listener"
require_relative "port_holder"
require_relative "reuseport_group"

module Bontebok
  # Listens on one IPv4 or IPv6 address.
  class TcpListener < Listener
    # Without this option, the kernel delays a small response until the client has acknowledged the previous one.
    # Accepted sockets inherit it.
    NO_DELAY = [Socket::IPPROTO_TCP, Socket::TCP_NODELAY, true].freeze

    # Returns a listener for each address of the name. names: HostNames or a HostNames::Table. Raises StartError.
    def self.for(address, names: HostNames, **options)
      names.resolve(address).map { |info| new(address, info, **options) }
    end

    # v6_only: a listener on [::] does not accept IPv4, because another listener has 0.0.0.0 with this port.
    def initialize(address, info, backlog:, reuse_port:, v6_only: false)
      super(address, backlog: backlog)
      @info = info
      @reuse_port = reuse_port
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

    # The ReuseportGroup of a socket that listens. nil: without reuse_port.
    attr_reader :group

    # Accepted connections inherit SO_REUSEADDR, so those in TIME_WAIT do not prevent the next server from binding.
    def listen
      reuse_address(true)
      return super unless @reuse_port

      @group = ReuseportGroup.new(socket) { super }
    end

    def shared? = @reuse_port

    # Servers that have the port already count as older.
    def inherit(socket)
      super
      @group = ReuseportGroup.new(socket) { nil } if @reuse_port
      self
    end

    def own
      SocketOwner.new(socket).take if @reuse_port
    end

    def taken_over?
      @reuse_port && SocketOwner.new(socket).other?
    end

    def at?(info) = info.to_sockaddr == @info.to_sockaddr

    def ip_address = @info.ip_address

    def to_s = Address.new(host: @info.ip_address, port: @info.ip_port).to_s

    private

    def reason(error)
      return [super, *PortHolder.of(@info)].join(" by ") if error.is_a?(Errno::EADDRINUSE)
      return super unless error.is_a?(Errno::EACCES) && @info.ip_port < 1024

      "#{super}: a port below 1024 needs root or CAP_NET_BIND_SERVICE"
    end

    # Binds without SO_REUSEADDR. If a former server has left connections, this bind fails. Then the option is set for a
    # second bind, and cleared after it. The option must not stay set while the application loads, because several
    # sockets with the option can bind the same port until one of them listens. A second server that starts during this
    # time must fail in #bind.
    def take_port
      socket.bind(@info)
    rescue Errno::EADDRINUSE
      reuse_address(true)
      socket.bind(@info)
      reuse_address(false)
    end

    def reuse_address(enabled)
      socket.setsockopt(:SOCKET, :REUSEADDR, enabled)
    end

    def set_options
      socket.setsockopt(:SOCKET, :REUSEPORT, true) if @reuse_port
      socket.setsockopt(*NO_DELAY)
      # The option is set explicitly to true or false, because the system's default may be either. If it is false, [::]
      # accepts IPv4 as well, and ::ffff:127.0.0.1 is a valid address.
      socket.setsockopt(:IPV6, :V6ONLY, @v6_only) if @info.ipv6?
    end
  end
end
