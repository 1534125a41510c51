# frozen_string_literal: true

require "socket"

require_relative "diag/inet_diag"

module Bontebok
  # The listening sockets of several servers that share one address and port (reuse_port), as one of these sockets sees
  # them. The kernel gives each new connection to a socket of the group. Normally a hash chooses the socket. A program
  # that any of the servers attaches chooses the socket instead. The program belongs to the group: it stays when the
  # server ends. A program that chooses a socket that does not exist has no effect.
  #
  # The kernel numbers the sockets in the order of listen(2). If a socket is closed, the last socket gets its number. So
  # with two sockets, the older one always has the number 0.
  class ReuseportGroup
    # From <asm-generic/socket.h>; Ruby has no names for them.
    SO_ATTACH_REUSEPORT_CBPF = 51
    SO_COOKIE = 57
    SO_DETACH_REUSEPORT_BPF = 68
    # From <linux/bpf_common.h>: the program returns a constant.
    BPF_RET_K = 0x06
    # struct sock_fprog is a u16 and a pointer, which has the alignment of a pointer.
    PROGRAM_FORMAT = "Sx#{[nil].pack('P').bytesize - 2}P".freeze
    # The place of tcpi_unacked in struct tcp_info. For a listener, it is the length of the accept queue.
    UNACKED = "@24L"
    private_constant(*constants)

    # The number of this socket that no other socket has.
    attr_reader :cookie

    # The block calls listen(2). Raises what the block raises.
    def initialize(socket)
      @socket = socket
      @info = socket.local_address
      @cookie = socket.getsockopt(:SOCKET, SO_COOKIE).data.unpack1("Q")
      @before = look { members }
      yield
      # Removes the program of a server that has left. Otherwise this socket could get all connections while the other
      # server still serves. If two other servers are there, one of them may be about to leave, and needs its program.
      look { @socket.setsockopt(:SOCKET, SO_DETACH_REUSEPORT_BPF, 0) } if @before.size == 1
    end

    # The cookies of all listening sockets of the group, of this server and of others. Raises SystemCallError.
    def members = cookies(InetDiag::LISTEN)

    # True if a server has bound the port and does not listen yet, because it loads its application. False on older
    # kernels. Raises SystemCallError.
    def newcomer? = cookies(InetDiag::BOUND).any?

    # The numbers of the sockets, the best first: connections to the first one probably go to another server. If another
    # socket came after this one, that is the last number.
    def numbers(members)
      newer = (members - @before - [cookie]).any?
      numbers = members.each_index.to_a
      newer ? numbers.reverse : numbers
    end

    # Seconds that a client may take to send its first bytes (TCP_DEFER_ACCEPT). The kernel rounds them up.
    def defer_accept = @socket.getsockopt(:TCP, :DEFER_ACCEPT).int

    # From now on, all new connections go to the socket with this number. Raises SystemCallError.
    def steer(number)
      instruction = [BPF_RET_K, number].pack("Sx2L")
      @socket.setsockopt(:SOCKET, SO_ATTACH_REUSEPORT_CBPF, [1, instruction].pack(PROGRAM_FORMAT))
    end

    # The cookies of connections whose handshake is not complete, of all listeners: the kernel does not tell which.
    def half_open = InetDiag.sockets(@info, InetDiag::SYN_RECV).map(&:cookie)

    # Number of connections that wait to be accepted from this socket.
    def queued = @socket.getsockopt(:TCP, :INFO).data.unpack1(UNACKED)

    def to_s = @info.inspect_sockaddr

    # An Addrinfo.
    attr_reader :info

    private

    def cookies(state)
      address = InetDiag.address(@info)
      InetDiag.sockets(@info, state).filter_map { |found| found.cookie if found.local == address }.sort
    end

    # The start must not fail because the kernel lacks something.
    def look
      yield
    rescue SystemCallError
      []
    end
  end
end
