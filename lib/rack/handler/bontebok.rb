# frozen_string_literal: true

require "rack/handler"

require_relative "../../bontebok/adapters/rack_handler"

module Rack
  module Handler
    # `rackup -s bontebok` and `rails server -u bontebok` with Rack 2, which has its own registry.
    module Bontebok
      extend ::Bontebok::RackHandler
    end

    register :bontebok, Bontebok
  end
end
