# frozen_string_literal: true

require "rackup/handler"

require_relative "../../bontebok/adapters/rack_handler"

module Rackup
  module Handler
    # `rackup -s bontebok` and `rails server -u bontebok` with Rack 3. Its registry is in the gem rackup.
    module Bontebok
      extend ::Bontebok::RackHandler
    end

    register :bontebok, Bontebok
  end
end
