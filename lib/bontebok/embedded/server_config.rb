# frozen_string_literal: true

require_relative "../config/config"
require_relative "../config/other_servers/handler_names"

module Bontebok
  # Makes the Config of a Server from its arguments. A Server has the options that make sense in a process of another
  # program. It reads no configuration file, and of the environment only the variables of the option `environment`.
  module ServerConfig
    SECTIONS = [OptionTable::Listening, OptionTable::Limits, OptionTable::Times, OptionTable::Bodies].freeze
    # Options of other sections.
    MORE = %i[threads environment graceful_timeout log_format log_level access_log access_log_format].freeze
    # Options of SECTIONS that need a process of the server.
    LESS = %i[worker_timeout hijack_timeout health_headers warm_up ready_path live_path].freeze
    OPTIONS = (SECTIONS.flat_map { |section| section::OPTIONS.map(&:key) } + MORE - LESS).freeze

    HOST = "127.0.0.1"
    PORT = 0
    # The effective values of options that are not given. At a stop, an idle connection is closed after 100 ms, because
    # its client is often a part of the program that waits for the stop.
    DEFAULTS = { max_workers: 0, threads: 1, worker_timeout: 0, config_file: nil,
                 listen: [Address.new(host: HOST, port: PORT)], keepalive_drain: 100, log_level: "warn" }.freeze

    CALLER = "Bontebok::Server"
    NO_EFFECT = "has no effect: the server runs in the process of its caller"

    class << self
      # Reads the arguments of Server.new: names of HandlerNames, or spellings of OptionTable such as Threads or
      # :threads. Returns [options, log, advice]: options for .for, the object that gets the log, and texts for the log.
      # An address of `listen` wins over Host, Port and Path. Raises ArgumentError.
      def arguments(options)
        given, advice = HandlerNames.read(options, CALLER)
        advice += workers(options, given)
        listen = given[:listen] || address(given)
        rest = given.except(*HandlerNames::OWN, :log, :timeout)
        [{ **verbose(given), **timeouts(given), **rest, listen: listen }, log(options, given), advice]
      rescue UsageError => e
        raise ArgumentError, e.message
      end

      # options: { key => value }. A value is written as in a configuration file. notes: texts for the log. Raises
      # ArgumentError.
      def for(options, notes: [])
        given = options.to_h { |name, value| option(name).then { |one| [one.key, one.read(value, CALLER)] } }
        env = ENV.slice(*OptionTable[:environment].environment_variables)
        Config.new(defaults: DEFAULTS.merge(given), defaults_source: CALLER, notes: notes, env: env)
      rescue UsageError => e
        raise ArgumentError, e.message
      end

      private

      # Takes the number of workers from the options if the option has the name of another server. Its own name is an
      # error, as that of any other option for processes.
      def workers(options, given)
        name = options.keys.find { |one| HandlerNames::BY_NAME[one.to_sym]&.ours == :max_workers } or return []
        count = given.delete(:max_workers)
        HandlerNames.on?(count) ? ["#{CALLER}: #{name} #{NO_EFFECT}"] : []
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

      # name: as the method of the configuration file.
      def option(name)
        option = OptionTable::ALL.find { |one| one.all_keys.include?(name.to_sym) }
        raise ArgumentError, "#{CALLER}: unknown option #{name}#{near(name)}" unless option
        return option if OPTIONS.include?(option.key)

        raise ArgumentError, "#{CALLER}: #{option.name} #{NO_EFFECT}"
      end

      def near(name)
        found = HandlerNames.nearest(name, OPTIONS)
        ". Did you mean #{found}?" if found
      end
    end
  end
end
