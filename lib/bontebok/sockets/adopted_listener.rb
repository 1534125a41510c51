# frozen_string_literal: true

require_relative "start_server"
require_relative "tcp_listener"
require_relative "../usage_error"

module Bontebok
  # A listening TCP or unix socket that another program passed to the server at its start. Other processes may accept
  # connections from this socket, during the server's life and after it. So the server closes the socket but never shuts
  # it down, and does not remove the file of a unix socket.
  class AdoptedListener < Listener
    FAMILIES = [Socket::AF_INET, Socket::AF_INET6, Socket::AF_UNIX].freeze

    # The program that passed the socket, for the log.
    attr_reader :origin

    # The StartServer that passed the socket; nil: another program.
    attr_reader :start_server

    # entry: an AdoptedSockets::Entry. backlog nil: the length of the accept queue does not change. Raises UsageError.
    def initialize(entry, backlog:)
      @origin = entry.origin
      @socket = adopt(entry.fileno)
      raise UsageError, "#{origin}: descriptor #{entry.fileno} is not a listening TCP or unix socket" unless @socket

      @start_server = StartServer.new(socket) if entry.start_server?
      @info = socket.local_address
      super(address_of(@info), backlog: backlog)
      @info = nil if address.unix?
    end

    def bind
      explained { socket.setsockopt(*TcpListener::NO_DELAY) } unless address.unix?
    end

    def own
      @start_server&.own
    end

    # True if this socket gets the connections to the other listener's address. systemd opens a port without an address
    # as [::], which includes all IPv4 addresses.
    def takes?(other)
      to_s == other.to_s || same_file?(other.address.path) ||
        (both_families? && other.to_s == "0.0.0.0:#{server_port}")
    end

    # A second listen(2) only changes the length of the queue.
    def listen
      super if @backlog
    end

    private

    # A directory in a path can be a link, such as /var/run.
    def same_file?(path)
      !path.nil? && address.unix? && !address.abstract? && File.identical?(address.path, path)
    end

    def both_families?
      @info&.ip_address == "::" && socket.getsockopt(:IPV6, :V6ONLY).int.zero?
    end

    # Returns the socket; nil: the descriptor is none that listens, is closed, or is reserved by Ruby (ArgumentError).
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
      Address.new(path: path.start_with?("\0") ? "@#{path[1..]}" : found(path))
    end

    # A relative path began in the working directory of the other program, which need not be the server's.
    def found(path)
      absolute = FileName.absolute(path)
      File.socket?(absolute) ? absolute : path
    end
  end
end
