# frozen_string_literal: true

require_relative "inet_diag"
require_relative "unix_diag"

module Bontebok
  # How many connections wait in the kernel for a server. Any user of the same network namespace may know this.
  module AcceptQueues
    TCP = /\A(?:\[(?<v6>[^\]]+)\]|(?<v4>[\d.]+)):(?<port>\d{1,5})\z/n
    UNIX = "unix:"
    private_constant :TCP, :UNIX

    class << self
      # addresses: the texts of Listener#to_s. Returns [{ address:, length:, limit: }, ...]. With several sockets at one
      # address (reuse_port), the numbers are sums. An address of which the kernel tells nothing is left out.
      def of(addresses)
        unix = addresses.any? { |address| address.start_with?(UNIX) } ? told { UnixDiag.listeners } : []
        addresses.uniq.filter_map do |address|
          queues = address.start_with?(UNIX) ? unix_queues(address.b.delete_prefix(UNIX), unix) : tcp_queues(address.b)
          { address: address, length: queues.sum(&:queued), limit: queues.sum(&:backlog) } if queues.any?
        end
      end

      private

      # Without a resolver: the text is the number of a host, or nobody listens there.
      def tcp_queues(text)
        match = TCP.match(text) or return []
        told do
          info = Addrinfo.getaddrinfo(match[:v6] || match[:v4], match[:port], nil, :STREAM, nil, Socket::AI_NUMERICHOST)
                         .first
          address = InetDiag.address(info)
          InetDiag.sockets(info, InetDiag::LISTEN).select { |found| found.local == address }
        end
      end

      # The file tells which socket clients reach: it may have got its name after the bind. Not all file systems show
      # the kernel's number of the device (btrfs), so the name comes second.
      def unix_queues(path, unix)
        return unix.select { |found| found.name == "\0#{path.delete_prefix('@')}".b } if path.start_with?("@")

        file = file_of(path)
        at_file = file ? unix.select { |found| [found.device, found.inode] == file } : []
        at_file.any? ? at_file : unix.select { |found| found.name == path }
      end

      # As in UnixDiag: the kernel's own number of the device has 12 and 20 bits.
      def file_of(path)
        stat = File.stat(path)
        [(stat.dev_major << 20) | stat.dev_minor, stat.ino & 0xffff_ffff]
      rescue SystemCallError, ArgumentError
        nil
      end

      # No interface, or no such text.
      def told
        yield
      rescue SystemCallError, SocketError, ArgumentError
        []
      end
    end
  end
end
