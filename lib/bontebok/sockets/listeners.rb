# frozen_string_literal: true

require_relative "adopted_listener"
require_relative "worker_links"
require_relative "shared_unix_listener"
require_relative "tcp_listener"

module Bontebok
  # All listening sockets of a server. The started process creates them, and the processes that it forks inherit them.
  class Listeners
    include Enumerable

    # The most listeners that the core accepts.
    MOST = 64

    # adopted: the entries of AdoptedSockets. If there are entries, no default address is opened. The address of an
    # adopted socket is not opened a second time. Raises StartError.
    def initialize(config, log:, adopted: [])
      @config = config
      @log = log
      @listeners = adopted.map { |entry| adopt(entry) }
      @listeners.concat(own.reject { |listener| taken?(listener) }) if adopted.empty? || config.chosen?(:listen)
      raise StartError, "cannot listen on more than #{MOST} addresses" if @listeners.size > MOST

      @listening = false
    end

    def each(&)
      @listeners.each(&)
    end

    # The WorkerLinks, which the workers share. #bind creates it.
    attr_reader :worker_links

    # Binds all sockets or none. Raises StartError.
    def bind
      each(&:bind)
      @worker_links = WorkerLinks.new
    rescue StartError
      close
      raise
    end

    # Makes all sockets listen, or none. Raises StartError.
    def listen
      each(&:listen)
      @listening = true
    rescue StartError
      close
      raise
    end

    def listening?
      @listening
    end

    # Removes the files of unix sockets (see #unlink), then closes the sockets. After the close, nobody could tell
    # whether a file is still the server's.
    def close
      unlink
      each(&:close)
      @worker_links&.close
    end

    # Runs the block, which closes the sockets. Then ends the listening for all copies of these sockets. A process that
    # was forked may have copies, and clients could still connect to an address that nobody serves.
    def end_for_all
      copies = map(&:socket).reject { |socket| socket.nil? || socket.closed? }.map(&:dup)
      yield
    ensure
      copies.each { |copy| shut_down(copy) }
    end

    # Called in a process that the application has forked.
    def disown
      each(&:disown)
      @worker_links&.disown
    end

    # Called in a process that inherited the sockets, when the sockets listen. Notes which files are the server's.
    def take_note
      grep(UnixListener).each(&:take_note)
    end

    # Called in a process that inherited the sockets, when the process that called #listen is gone. After this call,
    # #unlink removes the files.
    def take_over
      grep(UnixListener).each(&:take_over)
    end

    # Removes the files of unix sockets, so that no client connects to a server that ends. Does nothing in a process
    # that has called neither #listen nor #take_over. An error is only logged.
    def unlink
      grep(UnixListener) do |listener|
        listener.unlink
      rescue SystemCallError => e
        @log.warn("cannot remove #{listener}: #{SystemCallError.new(nil, e.errno).message}")
      end
    end

    private

    # ENOTCONN: the socket does not listen.
    def shut_down(socket)
      socket.shutdown
    rescue Errno::ENOTCONN
      nil
    ensure
      socket.close
    end

    def adopt(entry)
      AdoptedListener.new(entry, backlog: (@config[:backlog] if @config.chosen?(:backlog)),
                                 defer_accept: @config[:defer_accept])
    end

    # True if an adopted socket has the listener's address. If the kernel chooses the port, the result is false, because
    # the listener has port 0 until it is bound.
    def taken?(listener)
      @listeners.any? { |adopted| adopted.takes?(listener) }
    end

    def own
      @config[:listen].flat_map do |address|
        if address.unix?
          kind = @config[:reuse_port] ? SharedUnixListener : UnixListener
          kind.new(address, backlog: @config[:backlog], access: access)
        else
          TcpListener.for(address, backlog: @config[:backlog], reuse_port: @config[:reuse_port],
                                   defer_accept: @config[:defer_accept], v6_only: ipv4?(address.port))
        end
      end
    end

    # True if the server listens on 0.0.0.0 with this port.
    def ipv4?(port)
      all = Address.new(host: "0.0.0.0", port: port)
      !all.any_port? && [*@config[:listen], *@listeners.map(&:address)].include?(all)
    end

    def access
      @access ||= SocketAccess.new(mode: @config[:socket_mode], owner: @config[:socket_owner],
                                   group: @config[:socket_group])
    end
  end
end
