# frozen_string_literal: true

require_relative "../../system/clock"
require_relative "control_message"

module Bontebok
  # A server that starts beside this one, as this one sees it. The other server has asked for the listeners (OtherServer
  # is its side). It sends a message when it is ready, and closes the connection when it stops.
  class Newcomer
    # Seconds after which a client that is no server does not count as a server that starts. It may be a script that
    # asked for the listeners and hangs.
    PATIENCE = 5
    # Each process that serves, or starts to serve, has loaded this file.
    EXTENSION = %r{/bontebok/bontebok\.\w+}
    private_constant :EXTENSION

    # client: the ControlClient, which nobody else uses any more.
    def initialize(client)
      @client = client
      @patient_until = Clock.now + PATIENCE
      @received = +""
    end

    # Readable when #hear has something to do.
    def to_io = @client.to_io

    # A client that sends more than a message counts as gone.
    def hear
      bytes = to_io.read_nonblock(ControlMessage::LONGEST, exception: false)
      return @gone = true if bytes.nil?

      @received << bytes unless bytes == :wait_readable
      @gone = true if @received.bytesize > ControlMessage::LONGEST
    rescue SystemCallError, IOError
      @gone = true
    end

    # True if the other server is neither ready nor gone.
    def starting?
      hear unless gone?
      !gone? && !@received.end_with?("\n") && !stranger?
    end

    # True if the other server serves, and takes connections from the shared queue.
    def takes_over?
      !starting? && !gone? && ControlMessage.parse(@received)["queue"] == true
    rescue ControlMessage::Invalid
      false
    end

    # The connection stays open, because the main thread may wait for it.
    def gone? = @gone == true

    # Tells the other server, which stops, that this one continues. The mere end would say that both stop.
    def dismiss
      @client.say("this server continues")
      close
    end

    # Tells the other server that this one stops.
    def leave
      to_io.shutdown(:WR)
    rescue SystemCallError, IOError
      nil
    end

    def close = @client.close
    alias disown close

    private

    # Looks until the process has turned out to be a server.
    def stranger?
      return false if @known || Clock.now < @patient_until

      !(@known = server?)
    end

    # False if the process has ended, or is no server of Bontebok. True also if nothing can be found out: a process of
    # another pid namespace has the pid 0, and the memory maps of another user's process cannot be read.
    def server?
      pid = to_io.getsockopt(:SOCKET, :PEERCRED).data.unpack1("i")
      return true unless pid.positive?

      Process.kill(0, pid)
      File.foreach("/proc/#{pid}/maps").any?(EXTENSION)
    rescue Errno::ESRCH
      false
    rescue SystemCallError, IOError
      true
    end
  end
end
