# frozen_string_literal: true

require "io/wait"

require_relative "../../system/clock"
require_relative "../../system/runtime/private_directory"
require_relative "control_client"
require_relative "../shared_unix_listener"

module Bontebok
  # The unix socket on which a running server takes commands (option `control`). Only root, the user who runs the
  # server, and the user of the application may connect.
  class ControlSocket
    # Connections at the same time. At this number, the client that has sent no request for the longest time is closed.
    # If there is none, the oldest client that has its answer is closed: `bontebok status --follow` asks again.
    MOST = 32
    # Seconds without new connections after a failed accept, for example without a free descriptor.
    PAUSE = 1
    # Clients that the kernel lets wait, at most net.core.somaxconn. It refuses further clients at once.
    BACKLOG = 1024
    MODE = 0o600

    class << self
      # Checks that #initialize can create the socket. Raises StartError.
      def check(path, uid: nil)
        directory = PrivateDirectory.around(path)
        return if directory&.missing?

        directory&.check
        listener(path, uid, UnixListener).tap(&:check).close
      end

      # Raises StartError or SystemCallError.
      def listen(path, uid, kind)
        PrivateDirectory.around(path)&.make
        listener = listener(path, uid, kind)
        listener.bind
        listener.listen
        listener
      rescue StandardError
        listener&.close # a failed attempt is repeated
        raise
      end

      def listener(path, uid, kind)
        access = SocketAccess.new(mode: MODE, owner: uid&.to_s)
        kind.new(Address.of(Address::Path.new(path)), backlog: BACKLOG, access: access)
      rescue OptionTypes::Invalid => e
        raise StartError, "the control socket wants #{e.message}"
      end
    end

    attr_reader :path, :listener

    # uid: the user of the application, who gets the file; nil: nobody but the owner of the process. shared: the path
    # of a running server that has created its socket with this argument is taken over (SharedUnixListener). listener: a
    # listener that a former program of this process has passed. Raises StartError if a running server has the socket,
    # or if it cannot be created.
    def initialize(path, uid: nil, shared: false, listener: nil)
      @path = path
      @users = [0, Process.euid, *uid]
      kind = shared ? SharedUnixListener : UnixListener
      @listener = listener || ControlSocket.listen(path, uid, kind)
      @clients = []
    end

    # Readable when #take has something to do.
    def sources
      @clients.reject!(&:closed?)
      clients = @clients.reject(&:silent?)
      deadline ? clients : [@listener.socket, *clients]
    end

    # The time at which #sources must be asked again; nil: none.
    def deadline
      @deadline if @deadline && @deadline > Clock.now
    end

    # Accepts clients and reads their requests. The block gets each complete request (a Hash) and its ControlClient,
    # which it must finish, now or later.
    def take(&obey)
      hear(accept, &obey) while deadline.nil? && @listener.socket.wait_readable(0)
      @clients.each { |client| hear(client, &obey) }
    end

    # Returns the client. It belongs to the caller from now on.
    def release(client) = @clients.delete(client)

    # Closes the socket and removes its file. A process that was forked only closes its copy.
    def close
      @listener.unlink
      disown
    end

    def disown
      [@listener, *@clients].each(&:close)
    end

    private

    # client: nil if none was accepted.
    def hear(client)
      request = client.hear unless client.nil? || client.closed?
      yield request, client if request
    end

    # Returns the client, or nil.
    def accept
      socket, = @listener.socket.accept_nonblock
      make_room
      client = ControlClient.new(socket)
      _, uid, = socket.getsockopt(:SOCKET, :PEERCRED).data.unpack("i3")
      return client.finish(1, "the user #{uid} may not control this server") unless @users.include?(uid)

      @clients << client
      client
    rescue IO::WaitReadable, Errno::ECONNABORTED
      nil
    rescue SystemCallError
      @deadline = Clock.now + PAUSE
      nil
    end

    def make_room
      @clients.reject!(&:closed?)
      return if @clients.size < MOST

      (@clients.find { |client| !client.heard? } || @clients.find(&:answered?))&.close
    end
  end
end
