# frozen_string_literal: true

require_relative "sock_diag"

module Bontebok
  # Asks the kernel for the unix sockets of this network namespace that listen (SockDiag). Used by AcceptQueues.
  module UnixDiag
    # name: the bytes of a path, or NUL and an abstract name; nil: none. device, inode: of the socket's file, the inode
    # cut to 32 bits; nil: none. queued, backlog: the connections in its accept queue, and how many have room.
    Found = Struct.new(:name, :device, :inode, :queued, :backlog)
    private_constant :Found

    # The parts that the kernel is asked for (UDIAG_SHOW_*), and the types of its attributes (UNIX_DIAG_*).
    SHOW_NAME = 0x1
    SHOW_FILE = 0x2
    SHOW_QUEUE = 0x10
    NAME = 0
    FILE = 1
    QUEUE = 4
    # Size of struct unix_diag_msg, which the attributes follow.
    MESSAGE_SIZE = 16
    private_constant(*constants - %i[Found])

    class << self
      # Returns a Found for each socket. Raises SystemCallError.
      def listeners
        SockDiag.dump(request).map { |body| read(body) }
      end

      # Returns struct unix_diag_req.
      def request
        [Socket::AF_UNIX, 1 << SockDiag::LISTEN, 0, SHOW_NAME | SHOW_FILE | SHOW_QUEUE].pack("Cx3L3x8")
      end

      # Returns the Found of a struct unix_diag_msg with its attributes.
      def read(body)
        parts = attributes(body.byteslice(MESSAGE_SIZE..))
        inode, device = parts[FILE]&.unpack("L2")
        Found.new(name(parts[NAME]), device, inode, *(parts[QUEUE] || "").unpack("L2"))
      end

      private

      # { type => value }. Attributes begin at multiples of 4 bytes.
      def attributes(bytes)
        found = {}
        until bytes.nil? || bytes.bytesize < 4
          length, type = bytes.unpack("S2")
          found[type] = bytes.byteslice(4...length)
          bytes = bytes.byteslice((([length, 4].max + 3) & ~3)..)
        end
        found
      end

      # A path ends with a NUL.
      def name(bytes)
        bytes&.start_with?("\0") ? bytes : bytes&.unpack1("Z*")
      end
    end
  end
end
