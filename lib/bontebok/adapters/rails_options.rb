# frozen_string_literal: true

require_relative "handler_options"

module Bontebok
  # The options of `rails server -u bontebok`: address and environment. The environment, and an address that the user
  # has set, win over the configuration file. Rails itself handles its other options: pid file, daemon, log.
  class RailsOptions < HandlerOptions
    # One process has three advantages. The console in Rails' error page finds the data of the failed request, which
    # Rails keeps in memory. The debugger has the terminal. Only one copy of the application is reloaded. There are
    # three threads, because a page may request another page from the same server.
    DEVELOPMENT = { max_workers: 0, threads: 3 }.freeze

    private

    def make_config
      typed = typed? ? environment.merge(listen: [host_and_port]) : environment
      Config.new(typed, defaults: typed? ? defaults : defaults.merge(default_address), env: @env)
    end

    # True if the user has set Host or Port, on the command line or in an environment variable.
    def typed?
      @options[:user_supplied_options].intersect?(%i[Host Port])
    end

    def default_address
      { listen: [Address.parse(host_and_port)] }
    end

    def defaults
      @options[:environment] == "development" ? DEVELOPMENT : {}
    end
  end
end
