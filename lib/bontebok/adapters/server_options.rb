# frozen_string_literal: true

require_relative "../config/defaults"
require_relative "rackup_options"

module Bontebok
  # Turns the options of a Rack handler or of Capybara into arguments of Server.new, which knows the names of other
  # servers. Options that rackup passes to every handler have no effect.
  module ServerOptions
    IGNORED = (RackupOptions::RACKUPS - [:environment]).freeze

    class << self
      def read(options)
        { Port: Defaults::PORT, **options.compact.except(*IGNORED) }
      end
    end
  end
end
