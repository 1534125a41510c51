# frozen_string_literal: true

require "rack"

require_relative "default_handler"
require_relative "rackup_options"
require_relative "rails_options"
require_relative "rails_process"
require_relative "../processes/launcher"
require_relative "../start_failure"

module Bontebok
  # The methods of a Rack handler. lib/rack/handler/bontebok.rb (Rack 2) and lib/rackup/handler/bontebok.rb (Rack 3)
  # extend this module. The process of rackup or rails server becomes the supervisor. Unlike the supervisor of the
  # command bontebok, this supervisor has loaded the application.
  module RackHandler
    # Serves until the server is stopped, then exits. options: the options of -O, and the options that rackup or Rails
    # adds.
    #
    # With a block, this method is for programs and tests: a Server serves in threads of this process (options: see
    # RackupOptions.for_server). The block gets the Server when clients can connect. This method returns when the block
    # or another thread has stopped the Server.
    def run(app, **options, &block)
      DefaultHandler.withdraw
      return RackHandler.embed(app, options, &block) if block

      exit(StartFailure.told do
        RailsProcess.prepare(options) if RackHandler.rails?(options)
        Launcher.new(RackHandler.config(options), app: app).run
      end)
    end

    def valid_options
      RackupOptions.help
    end

    # Several threads serve, as in other servers whose handler takes a block. The files are loaded here, because they
    # load the C extension. Without a block, Launcher reports that the extension is not built.
    def self.embed(app, options)
      require_relative "../embedded/server"
      server = Server.new(app, threads: Defaults::DEVELOPMENT_THREADS, **RackupOptions.for_server(options)).start
      begin
        yield server
        server.join
      ensure
        server.stop
      end
    end

    def self.config(options, env: ENV)
      (rails?(options) ? RailsOptions : RackupOptions).new(options, env: env).config
    end

    # Rails passes :user_supplied_options, the names of the options that the user has set. rackup does not.
    def self.rails?(options)
      options.key?(:user_supplied_options)
    end
  end
end
