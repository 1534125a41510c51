# frozen_string_literal: true

require "socket"

require_relative "duped_descriptor"
require_relative "../start_error"

module Bontebok
  # One bound socket. #bind comes before the application loads, so an address in use is found at once. #listen comes
  # when workers have loaded the application, so no client waits for an application that is still loading. TcpListener
  # and UnixListener implement both; AdoptedListener gets a socket that is bound and listens already. This class has
  # what they share: @socket, and for TCP @info, the Addrinfo of the address. Errors are StartErrors that name the
  # address.
  class Listener
    # Each stands for all addresses of a family, so it names no host.
    WILDCARDS = %w[0.0.0.0 ::].freeze

    attr_reader :address, :socket

    def initialize(address, backlog:)
      @address = address
      @backlog = backlog
    end

    # If two servers start at the same moment, one of them may fail only here.
    def listen
      explained { socket.listen(@backlog) }
    end

    # Closes Ruby's descriptor; other processes and the core keep theirs.
    def close
      socket.close unless socket.nil? || socket.closed?
    end

    # Returns a descriptor for the core, which takes it over and closes it.
    def descriptor
      @lent = DupedDescriptor.new(socket)
      @lent.fileno
    end

    # For a process that the application has forked: closes the core's descriptor, too.
    def disown
      close
      @lent&.disown
    end

    # SERVER_NAME of a request without Host. A unix socket has no host name either, although RFC 9110 7.2 wants one.
    def server_name
      return "localhost" if @info.nil? || WILDCARDS.include?(@info.ip_address)

      @info.ipv6? ? "[#{@info.ip_address}]" : @info.ip_address
    end

    def server_port
      @info&.ip_port || 80
    end

    # The program that handed the socket over; nil: the server opened it itself.
    def origin
      nil
    end

    # The address, with the port that the kernel chose. The log uses it as the listener's name.
    def to_s
      address.to_s
    end

    private

    # The message has the kernel's text, without the text that Ruby adds.
    def explained
      yield
    rescue SystemCallError => e
      raise StartError, "cannot listen on #{address}: #{SystemCallError.new(nil, e.errno).message}"
    end
  end
end
