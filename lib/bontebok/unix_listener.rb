# frozen_string_literal: true

require_relative "listener"

module Bontebok
  # Listens on a unix socket. One with a path is bound under another name in the same folder and takes its place by
  # rename(2) in listen: a stale socket is replaced without a moment in which there is none, and a server that starts
  # at the same time is found then, if not before.
  class UnixListener < Listener
    NAME_LETTERS = [*"a".."z", *"0".."9"].freeze
    # Names to try before giving up; a name of one letter has 36.
    ATTEMPTS = 200
    # A proxy has a user of its own: who may connect is decided by the folder's mode, as with other servers.
    MODE = 0o777

    def bind
      explained do
        @socket = Socket.new(Socket::PF_UNIX, Socket::SOCK_STREAM)
        next socket.bind(Socket.pack_sockaddr_un("\0#{path.delete_prefix('@')}")) if address.abstract?

        refuse_a_living_one
        @bound_path = bind_beside(path)
        @identity = identity(@bound_path)
        File.chmod(MODE, @bound_path)
      end
    end

    def listen
      super
      return if address.abstract?

      explained do
        refuse_a_living_one
        File.rename(@bound_path, path)
        @bound_path = path
      end
    end

    # Removes the socket's file if it is still the one that we bound: another server may have put its own there.
    def unlink
      File.unlink(@bound_path) if @bound_path && identity(@bound_path) == @identity
    rescue Errno::ENOENT
      nil
    end

    # A request without Host has no other (RFC 9110 7.2 would want the target's authority).
    def server_name
      "localhost"
    end

    def server_port
      80
    end

    private

    def path
      address.path
    end

    # Somebody who answers, or would if he had not so many waiting already (EAGAIN), owns the path. What is no socket
    # is not ours to replace.
    def refuse_a_living_one
      raise Errno::EEXIST if File.exist?(path) && !File.socket?(path)

      probe = Socket.new(Socket::PF_UNIX, Socket::SOCK_STREAM)
      probe.connect_nonblock(Socket.pack_sockaddr_un(path), exception: false)
      raise Errno::EADDRINUSE
    rescue Errno::EAGAIN
      raise Errno::EADDRINUSE
    rescue Errno::ENOENT, Errno::ECONNREFUSED
      nil
    ensure
      probe&.close
    end

    # A name no longer than the final one: the length of sun_path has been checked for that.
    def bind_beside(path)
      folder, name = File.split(path)
      attempts = 0
      begin
        beside = File.join(folder, Array.new(name.size.clamp(1, 12)) { NAME_LETTERS.sample }.join)
        socket.bind(Socket.pack_sockaddr_un(beside))
        beside
      rescue Errno::EADDRINUSE
        (attempts += 1) < ATTEMPTS ? retry : raise
      end
    end

    def identity(path)
      stat = File.lstat(path)
      [stat.dev, stat.ino]
    end
  end
end
