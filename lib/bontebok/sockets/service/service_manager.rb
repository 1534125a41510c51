# frozen_string_literal: true

require "socket"

module Bontebok
  # The service manager that has started the server, for example systemd. The server tells it its state by the protocol
  # of sd_notify(3): datagrams to the unix socket in NOTIFY_SOCKET. No method blocks or raises. Without this variable,
  # the methods do nothing. ServiceReport decides what is told.
  class ServiceManager
    VARIABLES = %w[NOTIFY_SOCKET WATCHDOG_PID WATCHDOG_USEC].freeze

    # Removes the variables from env: the service manager accepts messages only from the server's first process.
    def self.take(env)
      new(VARIABLES.to_h { |name| [name, env.delete(name)] }.compact)
    end

    # For a program that this process executes in its place: { name => value }.
    attr_reader :variables

    def initialize(variables)
      @variables = variables
      path = variables["NOTIFY_SOCKET"].to_s
      @address = Socket.pack_sockaddr_un(path.sub(/\A@/, "\0")) if path.match?(%r{\A[/@].}n)
    rescue ArgumentError
      nil # the path is too long for a socket
    end

    def present? = !@address.nil?

    # Seconds within which the service manager wants a sign of life; nil: it wants none.
    def watchdog
      return unless @variables.fetch("WATCHDOG_PID", Process.pid.to_s) == Process.pid.to_s

      microseconds = @variables["WATCHDOG_USEC"].to_s.b[/\A\d{1,15}\z/].to_i
      microseconds / 1_000_000.0 if present? && microseconds.positive?
    end

    # io: its descriptor goes with the message. Returns false if the message must be sent again, because the service
    # manager's queue is full. The socket is opened for each message, so no forked process has it.
    def tell(io: nil, **fields)
      return true unless present?

      rights = Socket::AncillaryData.unix_rights(io) if io
      text = fields.map { |name, value| "#{name}=#{value}" }.join("\n")
      Socket.open(:UNIX, :DGRAM) { |one| one.sendmsg_nonblock(text, 0, @address, *rights) }
      true
    rescue IO::WaitWritable
      false
    rescue SystemCallError, IOError
      true
    end

    # Returns the end of a pipe that becomes readable when the service manager has obeyed all messages, or is gone. nil:
    # no pipe can be made.
    def barrier
      reader, writer = IO.pipe
      tell(BARRIER: 1, io: writer)
      reader
    rescue SystemCallError
      nil
    ensure
      writer&.close
    end
  end
end
