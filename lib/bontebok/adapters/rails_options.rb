# frozen_string_literal: true

require_relative "handler_options"

module Bontebok
  # The options of `rails server -u bontebok`: address and environment. What was typed wins over the configuration file;
  # Rails tells which of its values that is. The rest is Rails' own: the pid file, the daemon, the log.
  class RailsOptions < HandlerOptions
    # One process: what Rails keeps in memory between two requests (the console in an error page) is there at the
    # second, the debugger has the terminal, and there is one copy of the application to reload. Threads, because a page
    # may ask its own server for another one.
    DEVELOPMENT = { max_workers: 0, threads: 3 }.freeze

    private

    def make_config
      typed = typed? ? environment.merge(listen: [host_and_port]) : environment
      Config.new(typed, defaults: typed? ? defaults : defaults.merge(default_address), env: @env)
    end

    # Host and Port may come from its environment as well.
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
