# frozen_string_literal: true

require_relative "../usage_error"

module Bontebok
  # Finds the listening sockets that another program passed to this process, by the protocols of start_server
  # (SERVER_STARTER_PORT) and systemd (sd_listen_fds(3)). Reads only the environment: AdoptedListener checks them.
  module AdoptedSockets
    # origin: the socket's name in the log and in messages. name: the name in LISTEN_FDNAMES, or nil.
    Entry = Struct.new(:fileno, :origin, :name) do
      def start_server? = origin.start_with?("start_server ")
    end

    # "ADDRESS=FD;ADDRESS=FD". A path may contain = and ;. So an entry ends with =, a number, and then ; or the end of
    # the text. \G: if an entry has no end, no other place is tried, which would take quadratic time.
    STARTER_ENTRY = /\G(.+?)=(\d{1,9})(?:;|\z)/m
    VARIABLES = %w[SERVER_STARTER_PORT LISTEN_PID LISTEN_FDS LISTEN_FDNAMES].freeze
    FIRST_OF_SYSTEMD = 3
    # At most 9999, because an entry is made for each descriptor before the descriptor is checked.
    COUNT = /\A\d{1,4}\z/

    class << self
      # Returns Entries. Removes the variables from env, because programs that the application executes do not inherit
      # the sockets. Raises UsageError.
      def take(env, log:)
        starter, pid, count, names = VARIABLES.map { |name| env.delete(name).to_s.b.strip }
        entries = of_start_server(starter)
        entries.concat(of_systemd(count, names)) if meant_for_us?(pid, count, log)
        entries.uniq(&:fileno)
      end

      private

      def of_start_server(text)
        unless text.gsub(STARTER_ENTRY, "").empty?
          raise UsageError, "SERVER_STARTER_PORT wants ADDRESS=DESCRIPTOR;..., not #{text.inspect}"
        end

        text.scan(STARTER_ENTRY).map do |address, fileno|
          Entry.new(fileno.to_i, "start_server (#{readable(address)})")
        end
      end

      def of_systemd(count, names)
        raise UsageError, "LISTEN_FDS wants a number, not #{count.inspect}" unless COUNT.match?(count)

        names = names.split(":")
        Array.new(count.to_i) do |index|
          name = readable(names[index].to_s)
          Entry.new(FIRST_OF_SYSTEMD + index, name.empty? ? "systemd" : "systemd (#{name})", name)
        end
      end

      # If systemd started a shell, and the shell started this process without exec, this process inherits the
      # variables. But the sockets are meant for the shell (sd_listen_fds(3)).
      def meant_for_us?(pid, count, log)
        return false if count.empty?
        return true if pid == Process.pid.to_s

        log.warn("LISTEN_FDS is not for this process: LISTEN_PID is #{pid.empty? ? 'not set' : pid.inspect}")
        false
      end

      def readable(bytes) = bytes.dup.force_encoding(Encoding::UTF_8).scrub
    end
  end
end
