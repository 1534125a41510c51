# frozen_string_literal: true

require_relative "adopted_listener"
require_relative "worker_links"
require_relative "tcp_listener"
require_relative "unix_listener"

module Bontebok
  # All sockets of a server. Made in the process that was started, and inherited by those that it forks.
  class Listeners
    include Enumerable

    # The core's number.
    MOST = 64

    # adopted: AdoptedSockets::Entries. Beside them no default address is opened, and no second time one of theirs.
    # Raises StartError.
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

    # What those that serve them share; made by #bind.
    attr_reader :worker_links

    # All or none. Raises StartError.
    def bind
      each(&:bind)
      @worker_links = WorkerLinks.new
    rescue StartError
      close
      raise
    end

    # All or none. Raises StartError.
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

    # In the process that listened first their files go: afterwards nobody could tell any more whether they are ours.
    def close
      unlink
      each(&:close)
      @worker_links&.close
    end

    # In a process that has nothing to do with the server.
    def disown
      each(&:disown)
      @worker_links&.disown
    end

    # In a process that inherited them, once they listen: takes note of which files are ours.
    def take_note
      grep(UnixListener).each(&:take_note)
    end

    # In a process that inherited them, when the one that listened first is gone: from now on unlink is for this one.
    def take_over
      grep(UnixListener).each(&:take_over)
    end

    # Removes the files of unix sockets, so that nobody finds the way to a server that goes. One that cannot be removed
    # is no reason not to go.
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

    # Which is not bound yet: a port that the kernel is to choose is nobody's.
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

    # Do we have all IPv4 addresses of this port?
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
