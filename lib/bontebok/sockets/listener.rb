# frozen_string_literal: true

require "socket"

require_relative "duped_descriptor"
require_relative "../start_error"

module Bontebok
  # One bound socket. bind comes before the application loads, so that a used address is found at once; listen comes
  # when workers are ready, so that no client waits for an application that is still loading. TcpListener and
  # UnixListener say how, AdoptedListener finds both done; this is what they share: @socket, and for TCP @info, the
  # Addrinfo of its address. Errors are StartErrors that name the address.
  class Listener
    # Addresses that stand for all of a family name no host.
    WILDCARDS = %w[0.0.0.0 ::].freeze

    attr_reader :address, :socket

    def initialize(address, backlog:)
      @address = address
      @backlog = backlog
    end

    # Of two servers that start at the same moment one may fail only here.
    def listen
      explained { socket.listen(@backlog) }
    end

    # Closes our descriptor; other processes, and the core, keep theirs.
    def close
      socket.close unless socket.nil? || socket.closed?
    end

    # A descriptor for the core, which takes it over and closes it.
    def descriptor
      @lent = DupedDescriptor.new(socket)
      @lent.fileno
    end

    # In a process that was forked by the application: closes the core's descriptor too.
    def disown
      close
      @lent&.disown
    end

    # SERVER_NAME of a request without Host. A unix socket names no host either, although RFC 9110 7.2 would want one.
    def server_name
      return "localhost" if @info.nil? || WILDCARDS.include?(@info.ip_address)

      @info.ipv6? ? "[#{@info.ip_address}]" : @info.ip_address
    end

    def server_port
      @info&.ip_port || 80
    end

    # Whoever handed it over; nil: it is our own.
    def origin
      nil
    end

    # The address with the port that the kernel chose; what the log calls the listener.
    def to_s
      address.to_s
    end

    private

    # The kernel's words, without what Ruby adds to them.
    def explained
      yield
    rescue SystemCallError => e
      raise StartError, "cannot listen on #{address}: #{SystemCallError.new(nil, e.errno).message}"
    end
  end
end
