# frozen_string_literal: true

require_relative "control_connection"
require_relative "../passed_listeners"
require_relative "../worker_links"

module Bontebok
  # A running server with reuse_port, as a server with the same control socket sees it. The new server gets copies of
  # the running server's TCP listeners (SCM_RIGHTS, unix(7)). So both accept from the same queues, and no connection is
  # lost when one of them closes its copies. The running server does not stop before the new server is ready or has
  # ended (Newcomer is its side). If both have the same addresses, they also share a queue for connections
  # (WorkerLinks). The server that stops puts its idle connections into it. The connection to the control socket stays
  # open until one of the servers stops, so each sees whether the other continues.
  class OtherServer
    # Seconds that the running server gets to respond. Without a response, the new server opens sockets of its own.
    SECONDS = 1

    # Returns nil if no server gives its listeners within the time. path: the control socket. Only the user of this
    # process, or root, can pass a socket that it serves.
    def self.find(path, seconds: SECONDS)
      connection = ControlConnection.new(path, Deadline.new(0))
      other = ask(connection, seconds) if [0, Process.euid].include?(connection.user)
      other || connection.close
    rescue StartError
      connection&.close
    end

    def self.ask(connection, seconds)
      connection.write({ command: "listeners" })
      message = connection.read(Deadline.new(seconds))
      return if !message || message["status"] || connection.descriptors.empty?

      descriptors = connection.descriptors.slice!(0..)
      queue = descriptors.pop(message["queue"].to_i)
      new(connection, descriptors.map { |io| PassedListeners.own(io) }, queue, message["addresses"])
    end
    private_class_method :new, :ask

    # connection: a ControlConnection. sockets: copies of the listeners' sockets. queue: copies of WorkerLinks#queue.
    # addresses: of all listeners of the running server.
    def initialize(connection, sockets, queue, addresses)
      @connection = connection
      @sockets = sockets
      @queue = queue
      @addresses = addresses
    end

    # Gives each listener without a socket the socket that has its address. Closes the others. Returns those listeners.
    def provide(listeners)
      listeners.select { |listener| (socket = take(listener)) && listener.inherit(socket) }
    ensure
      @sockets.each(&:close).clear
    end

    # Returns WorkerLinks with the queue of the running server. nil: a connection of one server could be of no use to
    # the other, because they have different addresses, or different versions of Bontebok.
    def join(listeners)
      return if @queue.empty? || @addresses != listeners.map(&:to_s).sort

      WorkerLinks.join(@queue.slice!(0..)).tap { @joined = true }
    rescue ArgumentError
      nil
    ensure
      @queue.each(&:close).clear
    end

    # Called when this server is ready. Now the other server may stop.
    def release
      @connection.write({ queue: @joined == true })
    rescue StartError, IOError # the other server has ended
      nil
    end

    # True if the other server serves, and takes connections from the shared queue. It closes the connection when it
    # stops. If it has noticed that this server stops, it sends a message first.
    def takes_over?
      @joined == true && !@connection.read(Deadline.new(0)).nil?
    rescue StartError, IOError
      false
    end

    # Tells the other server that this one stops. Processes that were forked may have copies of the connection.
    def leave
      @connection.end_writing
    rescue SystemCallError, IOError # the other server has ended, or this server has said so already
      nil
    end

    def close
      @connection.close
    end
    alias disown close

    private

    def take(listener)
      return if listener.socket

      @sockets.delete(@sockets.find { |socket| listener.at?(socket.local_address) })
    end
  end
end
