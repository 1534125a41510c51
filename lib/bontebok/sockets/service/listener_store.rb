# frozen_string_literal: true

require_relative "../passed_listeners"

module Bontebok
  # The listeners in the service manager's store of descriptors (FDSTORE of sd_notify(3), FileDescriptorStoreMax of
  # systemd). The service manager keeps copies of the listeners that the server has opened. If the server dies, the
  # copies still listen, and the next server gets them among the descriptors of LISTEN_FDS. They are the server's own
  # listeners: the name of each descriptor shows its address.
  class ListenerStore
    # The configured address, whether the listener is shared, and the device and inode of the file of a unix socket. The
    # service manager accepts no colon.
    NAME = /\Abontebok,(?<address>[^,]+),(?<kind>own|shared)(?:,(?<device>\d+),(?<inode>\d+))?\z/
    ESCAPED = %r{[^\w./\[\]@-]}n
    # The limit of the service manager.
    LONGEST_NAME = 255

    def initialize(manager)
      @manager = manager
      @kept = []
    end

    # Returns the stored listeners, and removes them from entries (see AdoptedSockets). The file of a unix socket may be
    # gone; such a socket is closed. Raises UsageError.
    def recall(entries)
      stored, others = entries.partition { |entry| NAME.match?(entry.name) }
      entries.replace(others)
      lost, listeners = stored.map { |entry| listener(entry) }.partition(&:lost?)
      lost.each(&:close)
      drop(lost)
      listeners.each(&:take_over)
    end

    # Stores new listeners, and drops stored ones that are not in the list. Those of another program are not stored.
    def keep(listeners)
      own = listeners.reject(&:origin)
      drop(@kept - own)
      @kept = own.select { |listener| @kept.include?(listener) || store(listener) }
    end

    # FDSTOREREMOVE drops all descriptors of a name. A host name with several addresses has several listeners.
    def drop(listeners)
      listeners.map { |listener| name(listener) }.uniq.each { |name| @manager.tell(FDSTOREREMOVE: 1, FDNAME: name) }
    end

    private

    # FDPOLL=0: the service manager need not watch the socket.
    def store(listener)
      name = name(listener)
      name.size > LONGEST_NAME || @manager.tell(FDSTORE: 1, FDNAME: name, FDPOLL: 0, io: listener.socket)
    end

    def name(listener)
      address = listener.address.to_s.b.gsub(ESCAPED) { |byte| format("%%%02X", byte.ord) }
      ["bontebok", address, listener.shared? ? "shared" : "own", *listener.file].join(",")
    end

    def listener(entry)
      match = NAME.match(entry.name)
      address = match[:address].b.gsub(/%(\h\h)/) { Regexp.last_match(1).hex.chr }.force_encoding(Encoding::UTF_8)
      file = [match[:device], match[:inode]].map(&:to_i) if match[:inode]
      PassedListeners.take([{ "address" => address, "shared" => match[:kind] == "shared", "file" => file }],
                           [Socket.for_fd(entry.fileno)]).first
    rescue SystemCallError, ArgumentError
      raise UsageError, "#{entry.origin}: descriptor #{entry.fileno} is not a listening TCP or unix socket"
    end
  end
end
