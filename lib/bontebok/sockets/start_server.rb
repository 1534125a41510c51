# frozen_string_literal: true

require_relative "departure/socket_owner"
require_relative "../system/proc/process_children"
require_relative "../system/proc/stat_line"

module Bontebok
  # The program start_server, as one of the servers that it has started sees it. All these servers share one listening
  # socket. An older server sees by the socket's owner when a newer one serves (SocketOwner).
  class StartServer
    # socket: the shared socket.
    def initialize(socket)
      @owner = SocketOwner.new(socket)
      @pid = Process.ppid
      @owned = owner == Process.pid # this process was executed again
    end

    # Called when this server is ready.
    def own
      @owned = @owner.take
    end

    # True if this server has become ready. False also if the system does not know owners of sockets.
    def owned? = @owned

    # The pid of the server that has become ready last; nil or 0: not known.
    def owner = @owner.pid

    # The pids of the servers that were started after this one and have not ended, oldest first. A server that has ended
    # counts until start_server has taken note and starts the next one. Empty if nothing can be found out.
    def newer
      return [] unless Process.ppid == @pid

      own = began(Process.pid)
      times = ProcessChildren.of(@pid).to_h { |pid| [pid, began(pid)] }
      times.select { |_, time| time && time > own }.sort_by(&:last).map(&:first)
    end

    private

    # The ticks of StatLine. nil: the process is gone.
    def began(pid) = StatLine.read("/proc/#{pid}/stat")&.ticks
  end
end
