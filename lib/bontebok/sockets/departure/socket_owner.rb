# frozen_string_literal: true

require_relative "../../system/proc/process_state"

module Bontebok
  # Several servers can share one listening socket (start_server, OtherServer). The socket has an owner (F_SETOWN in
  # fcntl(2)), which the kernel does not use for a listening socket. The owner is the server that has become ready last.
  # So an older server sees that a newer one serves. Another pid namespace does not show the owner.
  class SocketOwner
    # From <asm-generic/fcntl.h>; Ruby has no names for them. Linux has other numbers on alpha, mips, parisc and sparc.
    F_SETOWN = 8
    F_GETOWN = 9
    private_constant(*constants)

    def initialize(socket)
      @socket = socket
    end

    # This process becomes the owner. Returns false if the system does not know owners of sockets.
    def take
      @socket.fcntl(F_SETOWN, Process.pid)
      true
    rescue SystemCallError
      false
    end

    # The pid of the owner, even if it has ended; nil or 0: not known.
    def pid
      @socket.fcntl(F_GETOWN)
    rescue SystemCallError
      nil
    end

    # True if the owner is another process, and runs.
    def other?
      owner = pid
      !owner.nil? && owner.positive? && owner != Process.pid && !ProcessState.gone?(owner)
    end
  end
end
