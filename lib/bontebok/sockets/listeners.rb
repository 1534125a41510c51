# frozen_string_literal: true

require_relative "adopted_listener"
require_relative "worker_links"
require_relative "tcp_listener"
require_relative "unix_listener"

module Bontebok
  # All listening sockets of a server. Made in the process that was started; the processes that it forks inherit them.
  class Listeners
    include Enumerable

    # The core's limit.
    MOST = 64

    # adopted: AdoptedSockets::Entries. If there are any, no default address is opened. An address that an adopted
    # socket has is not opened again. Raises StartError.
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

    # The WorkerLinks, which the workers share; made by #bind.
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

    # Closes the sockets. The process that listened first removes the files of unix sockets before the close: after it,
    # nobody could tell whether a file is still the server's.
    def close
      unlink
      each(&:close)
      @worker_links&.close
    end

    # For a process that the application has forked.
    def disown
      each(&:disown)
      @worker_links&.disown
    end

    # For a process that inherited the sockets, when they listen: notes which files are the server's.
    def take_note
      grep(UnixListener).each(&:take_note)
    end

    # For a process that inherited the sockets, when the process that listened first is gone: from now on, #unlink in
    # this process removes the files.
    def take_over
      grep(UnixListener).each(&:take_over)
    end

    # Removes the files of unix sockets, so that no client connects to a server that ends. If a file cannot be removed,
    # the server ends all the same.
    def unlink
      grep(UnixListener) do |listener|
        listener.unlink
      rescue SystemCallError => e
        @log.warn("cannot remove #{listener}: #{SystemCallError.new(nil, e.errno).message}")
      end
    end

    private

    def adopt(entry)
      AdoptedListener.new(entry, backlog: (@config[:backlog] if @config.chosen?(:backlog)),
                                 defer_accept: @config[:defer_accept])
    end

    # Whether an adopted socket has the listener's address. If the kernel chooses the port, the listener has port 0
    # until it is bound, and no adopted socket has that port.
    def taken?(listener)
      @listeners.any? { |adopted| adopted.takes?(listener) }
    end

    def own
      @config[:listen].flat_map do |address|
        if address.unix?
          UnixListener.new(address, backlog: @config[:backlog], access: access)
        else
          TcpListener.for(address, backlog: @config[:backlog], reuse_port: @config[:reuse_port],
                                   defer_accept: @config[:defer_accept], v6_only: ipv4?(address.port))
        end
      end
    end

    # Whether the server listens on all IPv4 addresses of this port.
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
