# frozen_string_literal: true

require "socket"

module Bontebok
  # The messages to and from the kernel about sockets, by netlink (sock_diag(7)). Used by InetDiag and UnixDiag.
  module SockDiag
    # The state of a listening socket, also of a unix socket.
    LISTEN = 10

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
    private_constant(*constants - %i[LISTEN])

    class << self
      # Sends a request for sockets. Returns the body of the kernel's message for each of them. Raises SystemCallError.
      def dump(request)
        raise Errno::EAFNOSUPPORT unless Socket.const_defined?(:AF_NETLINK)

        Socket.open(Socket::AF_NETLINK, Socket::SOCK_RAW, NETLINK_SOCK_DIAG) do |socket|
          socket.send(message(request), 0)
          receive { socket.recv(BUFFER_SIZE) }
        end
      end

      # Returns the request with its header.
      def message(request)
        length = HEADER_SIZE + request.bytesize
        [length, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP].pack("LSSx8") + request
      end

      # The block returns the next bytes of the kernel. Returns the bodies. Raises the kernel's SystemCallError.
      def receive
        bodies = []
        loop do
          each_message(yield) do |type, body|
            raise SystemCallError.new(nil, -body.unpack1("l")) if type == NLMSG_ERROR
            return bodies if type == NLMSG_DONE

            bodies << body
          end
        end
      end

      private

      # Yields the type and the body of each message. Messages begin at multiples of 4 bytes.
      def each_message(bytes)
        until bytes.empty?
          length, type = bytes.unpack("LS")
          yield type, bytes.byteslice(HEADER_SIZE...length)
          bytes = bytes.byteslice(((length + 3) & ~3)..).to_s
        end
      end
    end
  end
end
