# frozen_string_literal: true

require "socket"

require_relative "duped_descriptor"
require_relative "../start_error"
require_relative "../system/error_text"

module Bontebok
  # The superclass of TcpListener, UnixListener and AdoptedListener: one listening socket. #bind is called before the
  # application is loaded, so an address in use is found at once. #listen is called after workers have loaded the
  # application, so no client waits for the loading. The subclasses set @socket, and for TCP @info, the Addrinfo of the
  # address. Errors are StartErrors that name the address.
  class Listener
    # These texts stand for all addresses of a family and name no host.
    WILDCARDS = %w[0.0.0.0 ::].freeze

    attr_reader :address, :socket

    # The place of the address in the configuration file, for messages, or nil.
    attr_writer :place

    def initialize(address, backlog:)
      @address = address
      @backlog = backlog
    end

    # For --check: makes the checks of #bind, and leaves the files that a start replaces.
    def check
      bind
    end

    # If two servers start at the same moment with the same address, both may succeed in #bind. One of them fails here.
    def listen
      explained { socket.listen(@backlog) }
    end

    # A name can have several addresses. nil: the listener is no TCP socket.
    def ip_address = nil

    # True if this is the address of the Addrinfo. False if the kernel chooses the port.
    def at?(_info) = false

    # Takes an inherited socket, which listens. Returns self.
    def inherit(socket)
      @socket = socket
      self
    end

    # Closes Ruby's descriptor. The core's descriptor and the descriptors of other processes stay open.
    def close
      socket.close unless socket.nil? || socket.closed?
    end

    # Returns a copy of the descriptor. The core owns the copy and closes it.
    def descriptor
      @lent = DupedDescriptor.new(socket)
      @lent.fileno
    end

    # Called in a process that the application has forked. Closes Ruby's and the core's descriptors.
    def disown
      close
      @lent&.disown
    end

    # SERVER_NAME of a request without Host (RFC 9110 7.2): the address, or localhost for a wildcard or a path.
    def server_name
      return "localhost" if @info.nil? || WILDCARDS.include?(@info.ip_address)

      @info.ipv6? ? "[#{@info.ip_address}]" : @info.ip_address
    end

    def server_port
      @info&.ip_port || 80
    end

    # The program that passed the socket to the server; nil: the server opened the socket.
    def origin = nil

    # See UnixListener#file.
    def file = nil

    # True if another server can have the same address (reuse_port).
    def shared? = false

    # See UnixListener#lost?.
    def lost? = false

    # See SharedUnixListener.
    def reclaim; end

    # See UnixListener.
    def give_away; end

    def take_over; end

    # Called when the server is ready.
    def own; end

    # True if another server with a copy of the socket has become ready after this server.
    def taken_over? = false

    # The address for the log. If the kernel chose the port, the text has the chosen port.
    def to_s = address.to_s

    private

    # The message has the kernel's text, without the text that Ruby adds.
    def explained
      yield
    rescue SystemCallError => e
      fail_because(reason(e))
    end

    def reason(error)
      ErrorText.of(error, address.path.to_s)
    end

    def fail_because(text)
      raise StartError, "#{"#{@place}: " if @place}cannot listen on #{address}: #{text}"
    end
  end
end
