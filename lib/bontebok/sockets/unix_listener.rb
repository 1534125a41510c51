# frozen_string_literal: true

require_relative "../system/directory_lock"
require_relative "listener"
require_relative "port_holder"
require_relative "socket_access"

module Bontebok
  # Listens on a unix socket. A socket with a path gets its file in #listen, so a server that is killed while its
  # application loads leaves no file. If the file exists at the start, and the server that created it still runs, the
  # start fails. If that server is dead, the file is removed. The file is created under its final name, without a
  # rename: see docs/decisions/0006-a-unix-socket-is-bound-under-its-name.md. SharedUnixListener renames.
  class UnixListener < Listener
    # access: the SocketAccess of the file.
    def initialize(address, backlog:, access:)
      super(address, backlog: backlog)
      @access = access
    end

    def bind
      explained do
        @socket = Socket.new(Socket::PF_UNIX, Socket::SOCK_STREAM)
        address.abstract? ? take_name : alone_in_directory { vacate_and_try }
      end
    end

    def check
      return bind if address.abstract?

      explained { alone_in_directory { without(dead_files) { try_path } } }
    end

    def listen
      return super if address.abstract?

      explained do
        alone_in_directory do
          vacate
          take_path(socket)
          @identity = identity(first_path)
          @owner = Process.pid
          @access.apply(first_path)
          super()
          appear
        end
      end
    end

    def inherit(socket, file)
      @identity = file
      super(socket)
    end

    # Device and inode of the socket's file; nil: no file is known.
    def file = @identity

    # True if clients cannot connect, because the path does not lead to this socket any more.
    def lost?
      !address.abstract? && !own?(path)
    rescue SystemCallError
      true
    end

    # Called in a process that was forked before the socket listened. Notes the identity of the file.
    def take_note
      @identity ||= identity(path) unless address.abstract?
    rescue SystemCallError
      nil
    end

    # Called after #take_note, when the process that created the file is gone. After this, #unlink removes the file.
    def take_over
      @owner = Process.pid if @identity
    end

    # Called before another program takes over. After this call, #unlink does nothing.
    def give_away = @owner = nil

    # Removes the socket's file, unless another server has replaced the file. Only the first call has an effect, and
    # only while the socket is open, because then another file may get its inode number. Raises SystemCallError.
    def unlink
      return unless @owner == Process.pid && !socket.closed?

      @owner = nil
      remove
    rescue Errno::ENOENT, Errno::ENOTDIR
      nil
    end

    private

    def path = address.path

    # The name under which the file is created.
    def first_path = path

    # Called when the socket listens.
    def appear; end

    def remove
      File.unlink(path) if own?(path)
    end

    def own?(path) = identity(path) == @identity

    # While the block runs, the files have other names: --check tries what a start does, and changes nothing.
    def without(files)
      moved = []
      files.each { |file| File.rename(file, "#{file}.#{Process.pid}") && (moved << file) }
      yield
    ensure
      moved.each { |file| File.rename("#{file}.#{Process.pid}", file) }
    end

    # Checks before the application loads that the file can be created.
    def vacate_and_try
      vacate
      try_path
    end

    def try_path
      Socket.open(Socket::PF_UNIX, Socket::SOCK_STREAM) { |trial| take_path(trial) }
      try_access
    end

    def try_access
      @access.apply(first_path)
    ensure
      File.unlink(first_path)
    end

    def take_path(owner)
      owner.bind(place(first_path))
    end

    def place(path = self.path)
      Socket.pack_sockaddr_un(address.abstract? ? "\0#{path.delete_prefix('@')}" : path)
    end

    # ECONNREFUSED: another socket has the name but does not listen yet.
    def take_name
      socket.bind(place)
    rescue Errno::EADDRINUSE => e
      begin
        find_living
      rescue Errno::ECONNREFUSED
        raise e
      end
    end

    def vacate = File.unlink(*dead_files)

    # The files of dead servers that a start removes. Raises StartError if the file at the path is not a socket.
    def dead_files
      fail_because("the file is not a socket") if File.exist?(path) && !File.socket?(path)
      find_living
    rescue Errno::ECONNREFUSED
      [path]
    rescue Errno::ENOENT
      []
    end

    # Raises Errno::EADDRINUSE or StartError if a running server has the address: it accepts a connection, or its queue
    # is full (EAGAIN). SO_PEERCRED (unix(7)) shows its pid. Raises ECONNREFUSED or ENOENT if no server listens.
    def find_living
      probe = Socket.new(Socket::PF_UNIX, Socket::SOCK_STREAM)
      probe.connect_nonblock(place, exception: false)
      refuse(pid_behind(probe))
    rescue Errno::EAGAIN
      raise Errno::EADDRINUSE
    ensure
      probe&.close
    end

    def pid_behind(socket)
      Socket.const_defined?(:SO_PEERCRED) ? socket.getsockopt(:SOCKET, :PEERCRED).data.unpack1("i") : 0
    end

    # The pid is 0 if the process is in another pid namespace, or if the system does not show it.
    def refuse(pid)
      raise Errno::EADDRINUSE if pid.zero?

      fail_because("Address already in use by #{PortHolder.described(pid)}")
    end

    # A socket that is bound and does not listen yet looks like the socket of a dead server. So servers that start at
    # the same moment must check the path one after the other. Without a lock, this is safe if none does.
    def alone_in_directory(&)
      DirectoryLock.hold(File.dirname(path), &)
    end

    def identity(path)
      stat = File.lstat(path)
      [stat.dev, stat.ino]
    end
  end
end
