# frozen_string_literal: true

require "io/wait"
require "socket"

require_relative "control_message"
require_relative "../../system/no_signal"
require_relative "../../start_error"
require_relative "../../system/deadline"

module Bontebok
  # A connection to the control socket, as a command or another server sees it. Raises StartError if no server takes
  # commands there.
  class ControlConnection
    # Seconds between two calls of `idle`.
    INTERVAL = 0.2
    # Seconds that a server gets to accept a connection.
    PATIENCE = 2
    # Seconds until a full queue is tried again. The kernel does not tell when it has room.
    PAUSE = 0.05
    # The most bytes of an answer. A server that sends more is none.
    LONGEST = 1 << 20
    private_constant :PAUSE

    attr_reader :path

    # The IO objects of descriptors that have come with messages. #close closes those that are left in the Array.
    attr_reader :descriptors

    # path: the control socket. deadline: until then, the connection is tried again if the server's queue is full.
    def initialize(path, deadline = Deadline.new(PATIENCE))
      @path = path
      @received = +""
      @descriptors = []
      @socket = guard { connect(deadline) }
    end

    # Sends the request, yields each message of the server, a Hash, and closes the connection. idle: is called again and
    # again until the last message has arrived; nil: nothing is called.
    def ask(request, idle: nil)
      write(request)
      loop do
        message = read(idle && Deadline.new(INTERVAL))
        next idle.call if message == false

        yield checked(message || break)
        break if message["status"]
      end
    ensure
      close
    end

    # A server that refuses the user does not read the request (EPIPE).
    def write(request)
      guard { @socket.send(ControlMessage.line(request), NoSignal::FLAG) }
    rescue Errno::EPIPE
      nil
    end

    # Waits for the next message until the deadline; nil: without a limit. Returns the message; nil: the server has
    # closed the connection; false: not all of the message has arrived by the deadline. Reads before it waits: while
    # an interrupt of Ruby is pending, a wait without time finds nothing.
    def read(deadline = nil)
      until (line = @received.slice!(/\A.*\n/))
        arrived = receive
        return if arrived.nil?
        return false unless arrived || @socket.wait_readable(deadline&.left)
      end
      guard { ControlMessage.parse(line) }
    end

    # The number of the user who runs the server.
    def user
      guard { @socket.getpeereid.first }
    end

    # The pid of the process that has opened the control socket. 0: it is in another pid namespace, or not known.
    def pid
      @socket.getsockopt(:SOCKET, :PEERCRED).data.unpack1("i")
    rescue SystemCallError, SocketError # the system has no such option
      0
    end

    # The file name under which the server has created the socket.
    def name
      guard { File.basename(@socket.remote_address.unix_path) }
    end

    # Tells the server that nothing follows, also if forked processes have copies of the connection. Raises
    # SystemCallError or IOError.
    def end_writing = @socket.shutdown(:WR)

    # Returns nil.
    def close
      [@socket, *@descriptors].each(&:close)
      nil
    end

    private

    # Adds the bytes that have arrived to the next message, and returns true. false: nothing has arrived; nil: the
    # server has closed the connection.
    def receive
      bytes, _, _, *controls = @socket.recvmsg_nonblock(ControlMessage::LONGEST, scm_rights: true)
      @descriptors.concat(controls.flat_map { |control| control.unix_rights.to_a })
      @received << bytes.to_s
      raise StartError, "the server at #{@path} sends something else" if @received.bytesize > LONGEST

      true unless bytes.to_s.empty?
    rescue IO::WaitReadable
      false
    rescue SystemCallError
      nil
    end

    # The status becomes that of a process.
    def checked(message)
      status = message["status"]
      return message if status.nil? || (status.is_a?(Integer) && status.between?(0, 255))

      raise StartError, "the server at #{@path} sends something else: the status #{status.inspect}"
    end

    def connect(deadline)
      socket = Socket.new(:UNIX, :STREAM)
      socket.connect_nonblock(Socket.pack_sockaddr_un(@path))
      socket
    rescue Errno::EAGAIN
      socket.close
      raise StartError, "the server at #{@path} does not answer: its queue of commands is full" if deadline.left.zero?

      sleep([PAUSE, deadline.left].min)
      retry
    rescue SystemCallError, ArgumentError
      socket.close
      raise
    end

    def guard
      yield
    rescue Errno::EPIPE
      raise
    rescue Errno::ENOENT, Errno::ECONNREFUSED, Errno::ENOTSOCK
      raise StartError, "no server takes commands at #{@path}"
    rescue SystemCallError, ArgumentError => e # ArgumentError: a path that is too long
      raise StartError, "cannot reach the server at #{@path}: #{e.message}"
    rescue ControlMessage::Invalid => e
      raise StartError, "the server at #{@path} sends something else: #{e.message}"
    end
  end
end
