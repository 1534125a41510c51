# frozen_string_literal: true

require "io/wait"
require "socket"

module Support
  # The part of a service manager that receives messages: a datagram socket for NOTIFY_SOCKET, and the store of
  # descriptors (sd_notify(3)).
  class NotifySocket
    Message = Struct.new(:fields, :sockets)

    attr_reader :path

    def initialize(path)
      @path = path
      @socket = Socket.new(:UNIX, :DGRAM)
      @socket.bind(Socket.sockaddr_un(path.sub(/\A@/, "\0")))
      @messages = []
      @lock = Mutex.new
    end

    # Reads each message at once, as a service manager does. Returns self.
    def follow
      @reader = Thread.new { loop { read if @socket.wait_readable } }
      self
    end

    # All messages that have come: [{ name => value }, ...].
    def messages
      read
      @messages.map(&:fields)
    end

    # The states that were told, in order: READY, RELOADING, STOPPING.
    def states
      messages.flat_map { |fields| fields.keys & %w[READY RELOADING STOPPING] }
    end

    # The descriptors in the store: { name => socket }.
    def store
      read
      @messages.each_with_object({}) do |message, store|
        name = message.fields["FDNAME"]
        store[name] = message.sockets.first if message.fields.key?("FDSTORE")
        store.delete(name) if message.fields.key?("FDSTOREREMOVE")
      end
    end

    # Drops all messages and the store.
    def forget
      read
      @messages.flat_map(&:sockets).reject(&:closed?).each(&:close)
      @messages.clear
    end

    def close
      @reader&.kill&.join
      forget unless @socket.closed?
      @socket.close
    end

    private

    def read
      @lock.synchronize do
        until (message = @socket.recvmsg_nonblock(scm_rights: true, exception: false)) == :wait_readable
          note(*message)
        end
      end
    end

    def note(text, _address, _flags, *controls)
      fields = text.lines(chomp: true).to_h { |line| line.split("=", 2) }
      sockets = controls.flat_map { |control| control.unix_rights.to_a }
      sockets.each(&:close) if fields.key?("BARRIER")
      @messages << Message.new(fields, sockets)
    end
  end
end
