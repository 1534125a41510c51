# frozen_string_literal: true

require_relative "listener"
require_relative "socket_access"

module Bontebok
  # Listens on a unix socket. One with a path has no file before it listens: a server that is killed while its
  # application loads leaves nothing behind. The file has the final name from its first moment; what is found there
  # when a server starts is therefore either a living one, which is refused, or a stale one, which goes. Why it is not
  # renamed into its place: docs/decisions/0006-a-unix-socket-is-bound-under-its-name.md.
  class UnixListener < Listener
    # How long somebody else may hold the directory's lock: a start holds it for less than a millisecond.
    LOCK_ATTEMPTS = 25
    LOCK_INTERVAL = 0.02

    # access: the SocketAccess of its file.
    def initialize(address, backlog:, access:)
      super(address, backlog: backlog)
      @access = access
    end

    def bind
      explained do
        @socket = Socket.new(Socket::PF_UNIX, Socket::SOCK_STREAM)
        address.abstract? ? take_name : try_path
      end
    end

    def listen
      return super if address.abstract?

      explained do
        alone_in_directory do
          vacate
          take_path(socket)
          @identity = identity
          @owner = Process.pid
          @access.apply(path)
          super()
        end
      end
    end

    # In a process that was forked before it listened.
    def take_note
      @identity ||= identity unless address.abstract?
    rescue SystemCallError
      nil
    end

    # In a process that took note, when the one that bound the file is gone.
    def take_over
      @owner = Process.pid if @identity
    end

    # Removes the socket's file if it is still the one that our server bound: another server may have put its own
    # there. Once, and only while the socket is open: later its inode's number may be another's. Raises SystemCallError.
    def unlink
      return unless @owner == Process.pid && !socket.closed?

      @owner = nil
      File.unlink(path) if identity == @identity
    rescue Errno::ENOENT, Errno::ENOTDIR
      nil
    end

    private

    def path
      address.path
    end

    # What would keep us from the path is found before the application loads.
    def try_path
      alone_in_directory do
        vacate
        Socket.open(Socket::PF_UNIX, Socket::SOCK_STREAM) { |trial| take_path(trial) }
        try_access
      end
    end

    def try_access
      @access.apply(path)
    ensure
      File.unlink(path)
    end

    def take_path(owner)
      owner.bind(place)
    end

    def place
      Socket.pack_sockaddr_un(address.abstract? ? "\0#{path.delete_prefix('@')}" : path)
    end

    # Whoever has the name may not listen yet (ECONNREFUSED).
    def take_name
      socket.bind(place)
    rescue Errno::EADDRINUSE => e
      begin
        find_living
      rescue Errno::ECONNREFUSED
        raise e
      end
    end

    # Makes room. What is no socket is not ours to remove.
    def vacate
      raise Errno::EEXIST if File.exist?(path) && !File.socket?(path)

      find_living
    rescue Errno::ECONNREFUSED
      File.unlink(path)
    rescue Errno::ENOENT
      nil
    end

    # Somebody who answers, or would if he had not so many waiting already (EAGAIN), owns the place; of a connection the
    # kernel tells who that is (unix(7), SO_PEERCRED).
    def find_living
      probe = Socket.new(Socket::PF_UNIX, Socket::SOCK_STREAM)
      probe.connect_nonblock(place, exception: false)
      refuse(probe.getsockopt(:SOCKET, :PEERCRED).data.unpack1("i"))
    rescue Errno::EAGAIN
      raise Errno::EADDRINUSE
    ensure
      probe&.close
    end

    # A process of another pid name space has no number here: 0.
    def refuse(pid)
      raise Errno::EADDRINUSE if pid.zero?

      raise StartError, "cannot listen on #{address}: Address already in use by process #{pid}"
    end

    # One that is bound and does not listen yet looks stale: of servers that start at the same moment, one after the
    # other looks. Where there is no lock to be had, because we may not read the directory or somebody keeps it, a start
    # is still right, if it is the only one.
    def alone_in_directory
      directory = lock_directory
      yield
    ensure
      # A process that was forked meanwhile has the lock as well: to close our descriptor would not end it.
      directory&.flock(File::LOCK_UN)
      directory&.close
    end

    def lock_directory
      directory = File.new(File.dirname(path))
      LOCK_ATTEMPTS.times do
        return directory if directory.flock(File::LOCK_EX | File::LOCK_NB)

        sleep(LOCK_INTERVAL)
      end
      directory
    rescue SystemCallError
      directory
    end

    def identity
      stat = File.lstat(path)
      [stat.dev, stat.ino]
    end
  end
end
