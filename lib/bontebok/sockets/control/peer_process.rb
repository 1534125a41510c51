# frozen_string_literal: true

require "socket"

module Bontebok
  # The process at the other end of a unix socket.
  class PeerProcess
    # Each process that serves, or starts to serve, has loaded this file.
    EXTENSION = %r{/bontebok/bontebok\.\w+}

    # socket: connected, or closed already.
    def initialize(socket)
      @pid, = socket.getsockopt(:SOCKET, :PEERCRED).data.unpack("i3")
    rescue SystemCallError, IOError
      @pid = 0
    end

    # True if the process has ended, or is no server of Bontebok. False also if nothing can be found out: a process of
    # another pid namespace has the pid 0, and the memory maps of another user's process cannot be read.
    def stranger?
      return false unless @pid.positive?

      Process.kill(0, @pid)
      File.foreach("/proc/#{@pid}/maps").none?(EXTENSION)
    rescue Errno::ESRCH
      true
    rescue SystemCallError
      false
    end
  end
end
