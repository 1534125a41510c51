# frozen_string_literal: true

require_relative "handler_options"

module Bontebok
  # The options of `rails server -u bontebok`: address and environment. The environment, and an address that the user
  # has set, win over the configuration file. Rails itself handles its other options: pid file, daemon, log.
  class RailsOptions < HandlerOptions
    # `rails restart` touches this file.
    DEFAULTS = { restart_file: "tmp/restart.txt" }.freeze

    private

    def make_config
      return Config.new(environment.merge(listen: addresses), defaults: DEFAULTS, env: @env) if typed?

      defaults = DEFAULTS.merge(listen: addresses.map { |text| Address.parse(text) })
      Config.new(environment, defaults: defaults, env: @env)
    end

    # Rails' default host in development is localhost.
    def addresses
      host, port = @options.values_at(:Host, :Port)
      hosts = host == "localhost" ? Loopback.addresses : [host]
      hosts.map { |one| Address.text(one, port) }
    end

    # True if the user has set Host or Port, on the command line or in an environment variable.
    def typed?
      @options[:user_supplied_options].intersect?(%i[Host Port])
    end
  end
end
