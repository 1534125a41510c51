# frozen_string_literal: true

require_relative "../address"

module Bontebok
  module ConfigStyles
    # The directives of a file for puma that set the addresses. The option `listen` gets the addresses. Parameters of an
    # address set options for all addresses.
    class PumaListen
      # Parameters of a bind address that are ignored.
      TUNING = %w[low_latency].freeze

      # file: the ConfigFile.
      def initialize(file)
        @file = file
      end

      def bind(address)
        where, options = Address.pumas(address.to_s) || refuse_bind(address.to_s)
        options.split("&").each { |option| bind_option(*option.split("=", 2)) }
        @file.add(:listen, where)
      end

      def port(port, host = nil)
        @file.add(:listen, Address.text(host || default_host, port))
      end

      def clear_binds!
        @file.set(:listen, nil)
      end

      # The server always uses the sockets that systemd passes to it.
      def bind_to_activated_sockets(sockets = true) # rubocop:disable Style/OptionalBooleanParameter -- puma's own form
        @file.only_passed_listeners(sockets == "only")
      end

      def set_default_host(host) # rubocop:disable Naming/AccessorMethodName -- puma's own word
        @host = host
      end

      def default_host
        @host || Address::ANY
      end

      private

      def refuse_bind(address)
        @file.refuse("bind #{address[/[^?]*/]}: TLS is left to a proxy") if address.start_with?("ssl:")
        @file.refuse("bind wants tcp://HOST:PORT or unix://PATH, not #{address}")
      end

      # The number is octal, also without a leading 0. puma reads a umask without a leading 0 as decimal, which is never
      # intended.
      def octal(name, text)
        Integer(text.to_s, 8)
      rescue ArgumentError
        @file.refuse("#{name} of bind wants a number like 0117")
      end

      def bind_option(name, value = nil)
        case name
        when "backlog" then @file.set(:backlog, [value.to_i, @file[:backlog]].compact.max)
        when "umask" then @file.restrict_socket(octal(name, value))
        when "mode" then @file.restrict_socket(~octal(name, value))
        when *TUNING then nil
        else @file.advise("#{name} of bind", "the server does not know this parameter")
        end
      end
    end
  end
end
