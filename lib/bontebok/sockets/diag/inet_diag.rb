# frozen_string_literal: true

require_relative "sock_diag"

module Bontebok
  # Asks the kernel for the TCP sockets of this network namespace (SockDiag). Used by ReuseportGroup, PortHolder,
  # AcceptQueues and Departure::Probe. Without the interface, .sockets raises SystemCallError.
  module InetDiag
    # States of a TCP socket.
    ESTABLISHED = 1
    SYN_RECV = 3
    LISTEN = SockDiag::LISTEN
    BOUND = 13 # the socket has a port, but is neither connected nor listens; Linux 6.8 and newer

    # port: the local port. local, peer: the bytes of the addresses, in network order. An IPv4 address has 12 more
    # bytes, which are 0. cookie: the value of SO_COOKIE; no other socket has it. queued, backlog: of a listener, the
    # connections in its accept queue, and how many have room. inode: 0 until the connection is accepted.
    Found = Struct.new(:port, :local, :peer, :cookie, :queued, :backlog, :inode)
    private_constant :Found

    class << self
      # Returns a Found for each socket of this state with the family and the port of info, an Addrinfo. An IPv4
      # connection of a listener on [::] has the family IPv6. peer_port: only connections with this port of the client.
      def sockets(info, state, peer_port: 0)
        SockDiag.dump(request(info, state, peer_port)).map { |body| read(body) }
                .select { |found| found.port == info.ip_port } # for BOUND, the kernel ignores the port
      end

      # Returns the bytes of the address, as in Found.
      def address(info)
        (info.ipv6? ? info.to_sockaddr[8, 16] : info.to_sockaddr[4, 4]).ljust(16, "\0")
      end

      # Returns struct inet_diag_req_v2.
      def request(info, state, peer_port)
        [info.afamily, Socket::IPPROTO_TCP, 1 << state, info.ip_port, peer_port].pack("CCx2Lnnx44")
      end

      # Returns the Found of a struct inet_diag_msg: 4 bytes; then the two ports, the two addresses, an interface and
      # the cookie; u32 each: expires, two queue lengths, uid, inode.
      def read(body)
        Found.new(*body.unpack("@4n@8a16a16@44Q@56L2@68L"))
      end
    end
  end
end
