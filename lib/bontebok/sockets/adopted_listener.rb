# frozen_string_literal: true

require_relative "tcp_listener"

module Bontebok
  # A socket that listened already when we were started, TCP or unix. It stays its owner's: others may accept from it
  # as well, now or when we have left; so it is only ever closed, never shut down, and a file that it has stays.
  class AdoptedListener < Listener
    FAMILIES = [Socket::AF_INET, Socket::AF_INET6, Socket::AF_UNIX].freeze

    # What the log says beside the address.
    attr_reader :origin

    # entry: an AdoptedSockets::Entry. backlog: nil leaves it as it is. Raises StartError.
    def initialize(entry, backlog:, defer_accept:)
      @origin = entry.origin
      @socket = adopt(entry.fileno)
      raise StartError, "#{origin}: descriptor #{entry.fileno} is no TCP or unix socket that listens" unless @socket

      @info = socket.local_address
      @defer_accept = defer_accept
      super(address_of(@info), backlog: backlog)
      @info = nil if address.unix?
    end

    def bind
      explained { TcpListener.set_options(socket, defer_accept: @defer_accept) } unless address.unix?
    end

    # Does what comes to this other listener's address come here? systemd opens a port without an address as [::], which
    # is all of IPv4 as well.
    def takes?(other)
      to_s == other.to_s || (both_families? && other.to_s == "0.0.0.0:#{server_port}")
    end

    # Once more only changes the length of its queue.
    def listen
      super if @backlog
    end

    private

    def both_families?
      @info&.ip_address == "::" && socket.getsockopt(:IPV6, :V6ONLY).int.zero?
    end

    # Nobody who started us may have handed it over after all: then the number is free, or one of Ruby's own
    # (ArgumentError).
    def adopt(fileno)
      socket = Socket.for_fd(fileno)
      socket.autoclose = listening_stream?(socket)
      return unless socket.autoclose?

      socket.close_on_exec = true
      socket
    rescue SystemCallError, ArgumentError
      nil
    end

    def listening_stream?(socket)
      FAMILIES.include?(socket.local_address.afamily) &&
        socket.getsockopt(:SOCKET, :TYPE).int == Socket::SOCK_STREAM &&
        socket.getsockopt(:SOCKET, :ACCEPTCONN).int == 1
    end

    def address_of(info)
      return Address.new(host: info.ip_address, port: info.ip_port) if info.ip?

      path = FileName.text(info.unix_path)
      Address.new(path: path.start_with?("\0") ? "@#{path[1..]}" : FileName.absolute(path))
    end
  end
end
