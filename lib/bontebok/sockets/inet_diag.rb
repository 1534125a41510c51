# frozen_string_literal: true

require "socket"

module Bontebok
  # Asks the kernel for the TCP sockets of this network namespace, by netlink (sock_diag(7)). Used by ReuseportGroup and
  # Departure::Probe. Only Linux has this interface, and a sandbox may forbid it: then .sockets raises SystemCallError.
  module InetDiag
    # States of a TCP socket.
    ESTABLISHED = 1
    SYN_RECV = 3
    LISTEN = 10
    BOUND = 13 # the socket has a port, but is neither connected nor listens; Linux 6.8 and newer

    # port: the local port. local, peer: the bytes of the addresses, in network order. An IPv4 address has 12 more
    # bytes, which are 0. cookie: the value of SO_COOKIE; no other socket has it. inode: 0 until the connection is
    # accepted.
    Found = Struct.new(:port, :local, :peer, :cookie, :inode)

    NETLINK_SOCK_DIAG = 4
    SOCK_DIAG_BY_FAMILY = 20
    NLM_F_REQUEST = 0x1
    NLM_F_DUMP = 0x300
    NLMSG_ERROR = 2
    NLMSG_DONE = 3
    # Size of struct nlmsghdr: u32 length, u16 type, u16 flags, u32 sequence number, u32 port.
    HEADER_SIZE = 16
    # The kernel's messages are not larger.
    BUFFER_SIZE = 65_536
    private_constant(*constants - %i[ESTABLISHED SYN_RECV LISTEN BOUND Found])

    class << self
      # Returns a Found for each socket of this state with the family and the port of info, an Addrinfo. An IPv4
      # connection of a listener on [::] has the family IPv6. peer_port: only connections with this port of the client.
      def sockets(info, state, peer_port: 0)
        raise Errno::EAFNOSUPPORT unless Socket.const_defined?(:AF_NETLINK)

        Socket.open(Socket::AF_NETLINK, Socket::SOCK_RAW, NETLINK_SOCK_DIAG) do |socket|
          socket.send(request(info, state, peer_port), 0)
          receive(socket).select { |found| found.port == info.ip_port } # for BOUND, the kernel ignores the port
        end
      end

      # Returns the bytes of the address, as in Found.
      def address(info)
        (info.ipv6? ? info.to_sockaddr[8, 16] : info.to_sockaddr[4, 4]).ljust(16, "\0")
      end

      # Returns a message: a header, and struct inet_diag_req_v2.
      def request(info, state, peer_port)
        body = [info.afamily, Socket::IPPROTO_TCP, 1 << state, info.ip_port, peer_port].pack("CCx2Lnnx44")
        header(body, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP) + body
      end

      # Yields the type and the body of each message. Messages begin at multiples of 4 bytes.
      def each_message(bytes)
        until bytes.empty?
          length, type = bytes.unpack("LS")
          yield type, bytes[HEADER_SIZE...length]
          bytes = bytes.byteslice(((length + 3) & ~3)..).to_s
        end
      end

      # Returns the Found of a message with struct inet_diag_msg: 4 bytes; then the two ports, the two addresses, an
      # interface and the cookie; u32 each: expires, two queue lengths, uid, inode. Raises SystemCallError if the kernel
      # reports an error.
      def read(type, body)
        raise SystemCallError.new(nil, -body.unpack1("l")) if type == NLMSG_ERROR

        Found.new(*body.unpack("@4n@8a16a16@44Q@68L"))
      end

      private

      def header(body, type, flags)
        [HEADER_SIZE + body.bytesize, type, flags].pack("LSSx8")
      end

      def receive(socket)
        found = []
        loop do
          each_message(socket.recv(BUFFER_SIZE)) do |type, body|
            return found if type == NLMSG_DONE

            found << read(type, body)
          end
        end
      end
    end
  end
end
