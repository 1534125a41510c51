# frozen_string_literal: true

require_relative "handler_options"

module Bontebok
  # The options of `rails server -u bontebok`: address and environment. Typed options win over the configuration file;
  # Rails tells which options were typed. The other options are Rails' own: the pid file, the daemon, the log.
  class RailsOptions < HandlerOptions
    # There is one process. So a request finds what Rails keeps in memory from an earlier request (the console in an
    # error page), the debugger has the terminal, and only one copy of the application is reloaded. There are three
    # threads, because a page may request another page of its own server.
    DEVELOPMENT = { max_workers: 0, threads: 3 }.freeze

    private

    def make_config
      typed = typed? ? environment.merge(listen: [host_and_port]) : environment
      Config.new(typed, defaults: typed? ? defaults : defaults.merge(default_address), env: @env)
    end

    # Rails counts Host and Port as typed also if they come from environment variables.
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
