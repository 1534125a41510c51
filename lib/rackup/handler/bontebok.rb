# frozen_string_literal: true

require "rackup/handler"

require_relative "../../bontebok/adapters/rack_handler"

module Rackup
  module Handler
    # `rackup -s bontebok` and `rails server -u bontebok` with the gem rackup, which goes with Rack 3.
    module Bontebok
      extend ::Bontebok::RackHandler
    end

    register :bontebok, Bontebok
  end
end
