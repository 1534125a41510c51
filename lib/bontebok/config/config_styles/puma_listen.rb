# frozen_string_literal: true

require_relative "../address"

module Bontebok
  module ConfigStyles
    # The directives of a file for puma that set the addresses. The option `listen` gets the addresses. Parameters of an
    # address set options for all addresses.
    module PumaListen
      # Parameters of a bind address that are ignored.
      TUNING = %w[low_latency].freeze

      def bind(address)
        where, options = Address.pumas(address.to_s) || refuse_bind(address.to_s)
        options.split("&").each { |option| bind_option(*option.split("=", 2)) }
        @bontebok_file.add(:listen, where)
      end

      def port(port, host = nil)
        @bontebok_file.add(:listen, Address.text(host || default_host, port))
      end

      def clear_binds!
        @bontebok_file.set(:listen, nil)
      end

      # The server always uses the sockets that systemd passes to it.
      def bind_to_activated_sockets(sockets = true) # rubocop:disable Style/OptionalBooleanParameter -- puma's own form
        @bontebok_file.only_passed_listeners(sockets == "only")
      end

      def set_default_host(host) # rubocop:disable Naming/AccessorMethodName -- puma's own word
        @bontebok_host = host
      end

      def default_host
        @bontebok_host || Address::ANY
      end

      private

      def refuse_bind(address)
        @bontebok_file.refuse("bind #{address[/[^?]*/]}: TLS is left to a proxy") if address.start_with?("ssl:")
        @bontebok_file.refuse("bind wants tcp://HOST:PORT or unix://PATH, not #{address}")
      end

      # The number is octal, also without a leading 0. puma reads a umask without a leading 0 as decimal, which is never
      # intended.
      def octal(name, text)
        Integer(text.to_s, 8)
      rescue ArgumentError
        @bontebok_file.refuse("#{name} of bind wants a number like 0117")
      end

      def bind_option(name, value = nil)
        case name
        when "backlog" then @bontebok_file.set(:backlog, [value.to_i, @bontebok_file[:backlog]].compact.max)
        when "umask" then restrict_socket(octal(name, value))
        when "mode" then restrict_socket(~octal(name, value))
        when *TUNING then nil
        else @bontebok_file.advise("#{name} of bind", "the server does not know this parameter")
        end
      end
    end
  end
end
