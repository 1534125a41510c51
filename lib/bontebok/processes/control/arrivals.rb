# frozen_string_literal: true

require_relative "../../sockets/control/newcomer"
require_relative "../../sockets/tcp_listener"

module Bontebok
  # The servers that start beside this one, and have got copies of its listeners (reuse_port). Used by Control and Stop.
  class Arrivals
    def initialize(log)
      @log = log
      @servers = []
    end

    # Readable when #hear has something to do.
    def sources = @servers

    # True while another server starts.
    def starting? = @servers.any?(&:starting?)

    # The client is another server (OtherServer), which gets copies of the TCP listeners and of the shared queue. It
    # belongs to this object from now on.
    def add(client, listeners)
      @log.info("another server starts beside this one")
      sockets = listeners.grep(TcpListener).select(&:shared?).map(&:socket)
      queue = listeners.worker_links.queue
      client.pass([*sockets, *queue], queue: queue.size, addresses: listeners.map(&:to_s).sort)
      @servers += [Newcomer.new(client)]
    end

    # If another server has ended, its unix sockets are dead. Then the paths of the listeners lead to this server again.
    # The block returns the listeners.
    def hear
      gone = @servers.each(&:hear).select(&:gone?)
      return if gone.empty?

      gone.each(&:dismiss)
      @servers -= gone
      yield.each(&:reclaim)
    rescue SystemCallError => e
      @log.warn("cannot take back the path of a unix socket: #{e.message}")
    end

    # Called when this server stops. others: OtherServers. Returns whether another server continues, and takes the idle
    # connections. If both stop at the same time, at least one of them sees it here, because each tells the other first.
    def leave(*others)
      [*others, *@servers].each(&:leave).any?(&:takes_over?)
    ensure
      @servers.each(&:close).clear
    end
  end
end
