# frozen_string_literal: true

require_relative "adopted_listener"
require_relative "shared_unix_listener"
require_relative "tcp_listener"

module Bontebok
  # Makes the listeners of a configuration. Used by Listeners.
  module ListenerList
    # The most listeners that the core accepts.
    MOST = 64

    class << self
      # adopted: the entries of AdoptedSockets. With entries, no default address is opened. The address of an adopted
      # socket is not opened again. former: the listeners of the former configuration. Adopted listeners stay, and a
      # listener of an address that both configurations have stays. names: see TcpListener.for. Raises StartError.
      def of(config, adopted: [], former: [], names: HostNames)
        backlog = config[:backlog] if config.chosen?(:backlog)
        list = adopted.map { |entry| AdoptedListener.new(entry, backlog: backlog) } + former.select(&:origin)
        list.concat(own(config, list, former - list, names)) if list.empty? || config.chosen?(:listen)
        check_size(list)
        list
      end

      # Raises StartError.
      def check_size(list)
        raise StartError, "cannot listen on more than #{MOST} addresses" if list.size > MOST
      end

      # The listeners of one address. adopted: the adopted listeners. Raises StartError.
      def make(config, address, adopted = [], names = HostNames)
        make_all(config, address, adopted, names).each { |listener| listener.place = config.place_of(address) }
      end

      private

      def make_all(config, address, adopted, names)
        if address.unix?
          kind = config[:reuse_port] ? SharedUnixListener : UnixListener
          access = SocketAccess.new(mode: config[:socket_mode], owner: config[:socket_owner])
          [kind.new(address, backlog: config[:backlog], access: access)]
        else
          TcpListener.for(address, names: names, backlog: config[:backlog], reuse_port: config[:reuse_port],
                                   v6_only: ipv4?(config, address.port, adopted))
        end
      end

      # adopted.takes?: false if the kernel chooses the port, because the listener has port 0 until it is bound.
      def own(config, adopted, former, names)
        wanted = config[:listen].flat_map do |address|
          take_former(former, address) || make(config, address, adopted, names).map { |one| take_same(former, one) }
        end
        wanted.reject { |listener| adopted.any? { |one| one.takes?(listener) } }
      end

      # The listeners that the address has already, or nil. So a name is not looked up again, which could take long.
      def take_former(former, address)
        listeners = former.select { |listener| listener.address == address }.uniq(&:ip_address)
        listeners.each { |listener| former.delete(listener) } if listeners.any?
      end

      # Returns the former listener that has the address under another name, or the new listener itself.
      def take_same(former, listener)
        former.delete(former.find { |one| one.to_s == listener.to_s }) || listener
      end

      # True if the server listens on 0.0.0.0 with this port.
      def ipv4?(config, port, adopted)
        all = Address.new(host: "0.0.0.0", port: port)
        !all.any_port? && [*config[:listen], *adopted.map(&:address)].include?(all)
      end
    end
  end
end
