# frozen_string_literal: true

require "rack"

require_relative "rackup_options"
require_relative "rails_options"
require_relative "../processes/server"
require_relative "../start_failure"

module Bontebok
  # The methods that the registries of Rack 2 and of the gem rackup expect of a server, for lib/rack/handler/bontebok.rb
  # and lib/rackup/handler/bontebok.rb. The process that was started is the supervisor, as with the command bontebok;
  # but it has loaded the application.
  module RackHandler
    # Serves until the process is told to end, then exits. options: those of -O, and what rackup and Rails add.
    def run(app, **options)
      exit(StartFailure.told { Server.new(RackHandler.config(options), app: app).run })
    end

    def valid_options
      RackupOptions.help
    end

    # Rails tells which of its options were typed; rackup does not.
    def self.config(options, env: ENV)
      kind = options.key?(:user_supplied_options) ? RailsOptions : RackupOptions
      kind.new(options, env: env).config
    end
  end
end
