# frozen_string_literal: true

module Bontebok
  # Makes this server the default of `rails server` and of Sinatra, if the bundle has no other server that they know.
  # Both know only a fixed list of servers. lib/bontebok.rb calls this module when a program requires the gem, so the
  # program must require the gem after Sinatra.
  module DefaultHandler
    NAME = "bontebok"
    # Gems that Rails and Sinatra try by themselves. WEBrick is not among them: other gems bring it.
    OTHERS = %w[puma falcon thin].freeze
    # The names of the default server for the registries of the gem rackup and of Rack 2.
    VARIABLES = %w[RACKUP_HANDLER RACK_HANDLER].freeze

    class << self
      # rails: true if the command is `rails server`. sinatra: Sinatra::Base if Sinatra is loaded.
      def offer(rails: nil, sinatra: nil, env: ENV, gems: defined?(Gem) ? Gem.loaded_specs.keys : [])
        return if gems.intersect?(OTHERS)

        offer_to_rails(env) if rails
        sinatra.set(:server, [NAME, *sinatra.server]) if sinatra && sinatra.server.is_a?(Array)
      end

      # Called when the server has been chosen. Commands that the application executes do not get the variables.
      def withdraw(env: ENV)
        @offered&.each { |name| env.delete(name) }
        @offered = nil
      end

      private

      # Rails asks for the server after config/application.rb, before any initializer.
      def offer_to_rails(env)
        return if env.values_at(*VARIABLES).any?

        @offered = VARIABLES
        @offered.each { |name| env[name] = NAME }
      end
    end
  end
end
