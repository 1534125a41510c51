# frozen_string_literal: true

require_relative "stand_in"

module Bontebok
  module ConfigStyles
    # The constant Puma of a file for puma. Some files compare puma's version.
    module PumaObjects
      extend StandIn

      # Constants of puma.
      module Const
        extend StandIn

        # The directives of this version are known. Some files work around faults of versions below 6.
        VERSION = PUMA_VERSION = "8.0.0"
      end
    end
  end
end
