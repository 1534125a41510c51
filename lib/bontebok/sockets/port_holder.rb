# frozen_string_literal: true

require "socket"

require_relative "diag/inet_diag"
require_relative "../system/proc/stat_line"

module Bontebok
  # Finds out which process has a TCP port, for the message of a start that finds the port in use. Used by TcpListener.
  # .of reads the descriptors of all processes, so it is not for a server that runs.
  module PortHolder
    # These addresses take the port from all addresses.
    WILDCARDS = %w[0.0.0.0 ::].freeze

    class << self
      # Returns "process PID (NAME)" or "this process". nil: the kernel does not tell this user.
      def of(info)
        links = inodes(info).map { |inode| "socket:[#{inode}]" }
        pid = first(links.any? ? holders(links) : [])
        pid && described(pid)
      rescue SystemCallError
        nil
      end

      # The name is that in ps. Each process chooses its own, so it is made safe for a terminal. Two addresses of one
      # server may exclude each other.
      def described(pid)
        return "this process" if pid == Process.pid

        name = File.binread("/proc/#{pid}/comm").chomp.gsub(/[^ -~]/n, "?")
        "process #{pid} (#{name})"
      rescue SystemCallError
        "process #{pid}"
      end

      # Returns the processes that have one of these sockets: the texts of links in /proc. pids: only these processes.
      def holders(links, pids = ["[0-9]*"])
        paths = Dir.glob(pids.map { |pid| "/proc/#{pid}/fd/*" })
        paths.filter_map { |path| path.split("/")[2].to_i if links.include?(link(path)) }.uniq
      end

      private

      # A socket that has no number belongs to no process.
      def inodes(info)
        places = [info, Addrinfo.tcp("0.0.0.0", info.ip_port), Addrinfo.tcp("::", info.ip_port)]
        ours = places.map { |place| InetDiag.address(place) }
        found = [InetDiag::LISTEN, InetDiag::BOUND].flat_map do |state|
          places.last(2).flat_map { |place| InetDiag.sockets(place, state) }
        end
        found.select! { |one| ours.include?(one.local) } unless WILDCARDS.include?(info.ip_address)
        found.map(&:inode) - [0]
      end

      def link(path)
        File.readlink(path)
      rescue SystemCallError
        nil
      end

      # All processes of a server have the socket. The first one has a parent without it.
      def first(pids)
        pids.find { |pid| !pids.include?(StatLine.parent_of(pid)) }
      end
    end
  end
end
