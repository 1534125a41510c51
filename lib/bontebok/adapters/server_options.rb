# frozen_string_literal: true

require_relative "../config/address"
require_relative "../config/option_table"
require_relative "handler_options"
require_relative "rackup_options"

module Bontebok
  # Turns the options of a Rack handler or of Capybara into arguments of Server.new. An option has one of these names:
  # Host, Port, Path; Silent (puma's) and Logger (WEBrick's); a spelling of OptionTable, such as Threads or :threads.
  # Options that rackup passes to every handler have no effect.
  module ServerOptions
    ADDRESS = %i[Host Port Path].freeze
    IGNORED = (RackupOptions::RACKUPS - [:environment]).freeze
    HOST = "127.0.0.1"

    class << self
      # Server.new checks the names and values.
      def read(options)
        options = options.reject { |name, value| value.nil? || value == [] || IGNORED.include?(name) }
        listen = { listen: address(options) }.compact
        log = log(options)
        named = options.except(*ADDRESS, :Silent, :Logger).to_h { |name, value| named(name.to_s, value) }
        { **listen, **log, **named }
      end

      private

      def address(options)
        return Address::Path.new(options[:Path].to_s) if options.key?(:Path)
        return unless options.key?(:Host) || options.key?(:Port)

        Address.text(options.fetch(:Host, HOST), options.fetch(:Port, Defaults::PORT))
      end

      def log(options)
        return { log: nil } if options[:Silent]

        options.key?(:Logger) ? { log: options[:Logger] } : {}
      end

      def named(name, value)
        [OptionTable.find(name)&.key || name.to_sym, value]
      end
    end
  end
end
