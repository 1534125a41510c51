# frozen_string_literal: true

require "io/wait"
require "socket"

require_relative "control_message"

module Bontebok
  # A running server with ReusePort, as a server with the same control socket sees it. The new server gets copies of the
  # running server's TCP listeners (SCM_RIGHTS, unix(7)). So both accept from the same queues, and no connection is lost
  # when one of them closes its copies. The connection stays open until the new server is ready or ends. Meanwhile the
  # running server does not stop.
  class OtherServer
    # Seconds that the running server gets to respond. Without a response, the new server opens sockets of its own.
    SECONDS = 1

    # Returns nil if no server gives its listeners within the time. path: the control socket.
    def self.find(path, seconds: SECONDS)
      socket = Socket.new(:UNIX, :STREAM)
      socket.connect_nonblock(Socket.pack_sockaddr_un(path))
      sockets = trusted?(socket) ? ask(socket, seconds) : []
      return new(socket, sockets) if sockets.any?

      socket.close
      nil
    rescue SystemCallError, ArgumentError, ControlMessage::Invalid # ArgumentError: the path is too long
      socket&.close
      nil
    end

    class << self
      private

      # Only the user of this process, or root, can pass a socket that it serves.
      def trusted?(socket)
        _, uid, = socket.getsockopt(:SOCKET, :PEERCRED).data.unpack("i3")
        [0, Process.euid].include?(uid)
      end

      def ask(socket, seconds)
        socket.write(ControlMessage.line(command: "listeners"))
        return [] unless socket.wait_readable(seconds)

        line, _, _, *controls = socket.recvmsg(ControlMessage::LONGEST, scm_rights: true)
        sockets = controls.flat_map { |control| control.unix_rights.to_a }.map { |io| own(io) }
        ControlMessage.parse(line)["status"] ? [] : sockets
      end

      # Descriptors that a message brings are IO objects of any class.
      def own(io)
        io.autoclose = false
        Socket.for_fd(io.fileno).tap { |socket| socket.close_on_exec = true }
      end
    end

    private_class_method :new

    # connection: to the control socket. sockets: copies of the listeners' sockets.
    def initialize(connection, sockets)
      @connection = connection
      @sockets = sockets
    end

    # Gives each listener without a socket the socket that has its address. Closes the other sockets. Returns the
    # listeners that have got one.
    def provide(listeners)
      listeners.select { |listener| (socket = take(listener)) && listener.inherit(socket) }
    ensure
      @sockets.each(&:close).clear
    end

    # Called when this server is ready. Now the other server may stop. Processes that were forked may have copies of
    # the connection.
    def release
      @connection.shutdown
    rescue SystemCallError, IOError # the other server has ended, or this is the second call
      nil
    ensure
      close
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
