# frozen_string_literal: true

require_relative "../config/address"
require_relative "../config/other_servers/handler_names"
require_relative "server_config"

module Bontebok
  # Turns the arguments of Server.new into options of ServerConfig. An option has a name of HandlerNames, or a spelling
  # of OptionTable such as Threads or :threads.
  module ServerArguments
    HOST = "127.0.0.1"
    PORT = 0
    HERE = "the server runs in the process of its caller"

    class << self
      # Returns [options, log, advice]: options for ServerConfig, the object that gets the log, and texts for the log.
      # An address of `listen` wins over Host, Port and Path. Raises ArgumentError.
      def read(options)
        given, advice = HandlerNames.read(options, ServerConfig::CALLER)
        advice += workers(options, given)
        listen = given[:listen] || address(given)
        rest = given.except(*HandlerNames::OWN, :log, :timeout)
        [{ **verbose(given), **timeouts(given), **rest, listen: listen }, log(options, given), advice]
      rescue UsageError => e
        raise ArgumentError, e.message
      end

      private

      # Takes the number of workers from the options if the option has the name of another server. Its own name is an
      # error, as that of any other option for processes.
      def workers(options, given)
        name = options.keys.find { |one| HandlerNames::BY_NAME[one.to_sym]&.ours == :max_workers } or return []
        count = given.delete(:max_workers)
        HandlerNames.on?(count) ? ["#{ServerConfig::CALLER}: #{name} has no effect: #{HERE}"] : []
      end

      def address(given)
        return Address::Path.new(given[:Path].to_s) if given[:Path]

        Address.text(given.fetch(:Host, HOST), given.fetch(:Port, PORT))
      end

      # nil is a value of `log`.
      def log(options, given)
        return if HandlerNames.on?(given[:Silent]) || (options.key?(:log) && options[:log].nil?)

        given.fetch(:log) { given.fetch(:Logger, $stderr) }
      end

      def verbose(given)
        HandlerNames.on?(given[:Verbose]) ? HandlerNames::VERBOSE : {}
      end

      # Rhebok's and thin's Timeout.
      def timeouts(given)
        given.key?(:timeout) ? RhebokOptions::TIMEOUTS.to_h { |key| [key, given[:timeout]] } : {}
      end
    end
  end
end
