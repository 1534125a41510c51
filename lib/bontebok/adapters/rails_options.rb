# frozen_string_literal: true

require_relative "handler_options"

module Bontebok
  # The options of `rails server -u bontebok`: address and environment. The environment, and an address that the user
  # has set, win over the configuration file. Rails itself handles its other options: pid file, daemon, log.
  class RailsOptions < HandlerOptions
    private

    def make_config
      typed = typed? ? environment.merge(listen: [host_and_port]) : environment
      Config.new(typed, defaults: { listen: ->(config) { config.default_addresses(@options[:Port]) } }, env: @env)
    end

    # True if the user has set Host or Port, on the command line or in an environment variable.
    def typed?
      @options[:user_supplied_options].intersect?(%i[Host Port])
    end
  end
end
