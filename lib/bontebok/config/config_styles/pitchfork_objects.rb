# frozen_string_literal: true

require_relative "stand_in"
require_relative "unicorn_objects"

module Bontebok
  module ConfigStyles
    # The constant Pitchfork of a file for pitchfork.
    module PitchforkObjects
      extend StandIn

      # The directives of this version are known.
      VERSION = "0.18.2"

      Configurator = UnicornObjects::Configurator
      HttpServer = UnicornObjects::HttpServer
    end
  end
end
