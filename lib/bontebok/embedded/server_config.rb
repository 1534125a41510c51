# frozen_string_literal: true

require_relative "../config/config"
require_relative "../config/other_servers/handler_names"

module Bontebok
  # Makes the Config of a Server. A Server has the options that make sense in a process of another program. It reads no
  # configuration file, and of the environment only the variables of the option `environment`.
  module ServerConfig
    SECTIONS = [OptionTable::Listening, OptionTable::Limits, OptionTable::Times, OptionTable::Bodies].freeze
    # Options of other sections.
    MORE = %i[threads environment graceful_timeout log_format log_level access_log access_log_format].freeze
    # Options of SECTIONS that need a process of the server.
    LESS = %i[worker_timeout hijack_timeout health_headers warm_up ready_path live_path].freeze
    OPTIONS = (SECTIONS.flat_map { |section| section::OPTIONS.map(&:key) } + MORE - LESS).freeze
    # The effective values of options that are not given. At a stop, an idle connection is closed after 100 ms, because
    # its client is often a part of the program that waits for the stop.
    DEFAULTS = { max_workers: 0, threads: 1, worker_timeout: 0, config_file: nil,
                 listen: [Address.new(host: "127.0.0.1", port: 0)], keepalive_drain: 100, log_level: "warn" }.freeze

    CALLER = "Bontebok::Server"

    class << self
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

      # name: as the method of the configuration file.
      def option(name)
        option = OptionTable::ALL.find { |one| one.all_keys.include?(name.to_sym) }
        raise ArgumentError, "#{CALLER}: unknown option #{name}#{near(name)}" unless option
        return option if OPTIONS.include?(option.key)

        raise ArgumentError, "#{CALLER}: #{option.name} has no effect: the server runs in the process of its caller"
      end

      def near(name)
        found = HandlerNames.nearest(name, OPTIONS)
        ". Did you mean #{found}?" if found
      end
    end
  end
end
