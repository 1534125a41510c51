# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # The value does not fit the type. The message describes the values that fit.
    class Invalid < StandardError; end
  end
end
