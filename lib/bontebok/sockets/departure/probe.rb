# frozen_string_literal: true

require "socket"

require_relative "../diag/inet_diag"
require_relative "../../system/no_signal"
require_relative "../port_holder"

module Bontebok
  class Departure
    # A connection of the server to its own port, without a request. Shows whether this or another server gets new ones.
    class Probe
      # An empty line before a request is allowed (RFC 9112 2.2).
      EMPTY_LINE = "\r\n"

      # info: the Addrinfo of the port. deferred: the kernel delays connections without data (TCP_DEFER_ACCEPT).
      def initialize(info, deferred:)
        @info = info
        @socket = Socket.new(info.pfamily, :STREAM)
        @socket.connect_nonblock(info, exception: false)
        @socket.sendmsg_nonblock(EMPTY_LINE, NoSignal::FLAG, exception: false) if deferred
      rescue SystemCallError
        nil # without a probe, nothing is known
      end

      # True if one of these processes has accepted the connection. False: nobody has yet, or nothing is known.
      def accepted_by?(pids)
        @accepted = find(pids) if @accepted.nil?
        @accepted || false
      rescue SystemCallError
        false
      end

      def close
        @socket&.close
      end

      private

      # Returns nil if nobody has accepted the connection yet.
      def find(pids)
        inode = accepted_inode or return
        PortHolder.holders(["socket:[#{inode}]"], pids).any?
      end

      def accepted_inode
        own = @socket.local_address
        InetDiag.sockets(@info, InetDiag::ESTABLISHED, peer_port: own.ip_port)
                .find { |found| found.peer == InetDiag.address(own) && found.inode.positive? }&.inode
      end
    end
  end
end
