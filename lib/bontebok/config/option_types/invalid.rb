# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # Raised if the value does not fit the type. The message describes the values that fit.
    class Invalid < StandardError; end
  end
end
