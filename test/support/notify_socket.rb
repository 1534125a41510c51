# frozen_string_literal: true

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
    end

    # All messages that have come: [{ name => value }, ...].
    def messages
      while (text, _, _, *controls = @socket.recvmsg_nonblock(scm_rights: true, exception: false)) != :wait_readable
        fields = text.lines(chomp: true).to_h { |line| line.split("=", 2) }
        @messages << Message.new(fields, controls.flat_map { |control| control.unix_rights.to_a })
      end
      @messages.map(&:fields)
    end

    # The states that were told, in order: READY, RELOADING, STOPPING.
    def states
      messages.flat_map { |fields| fields.keys & %w[READY RELOADING STOPPING] }
    end

    # The descriptors in the store: { name => socket }.
    def store
      messages
      @messages.each_with_object({}) do |message, store|
        name = message.fields["FDNAME"]
        store[name] = message.sockets.first if message.fields.key?("FDSTORE")
        store.delete(name) if message.fields.key?("FDSTOREREMOVE")
      end
    end

    # Drops all messages and the store.
    def forget
      messages
      @messages.flat_map(&:sockets).each(&:close)
      @messages.clear
    end

    def close
      forget
      @socket.close
    end
  end
end
