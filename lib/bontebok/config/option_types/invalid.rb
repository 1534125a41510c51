# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # A value is not one of the type. The message describes the values of the type.
    class Invalid < StandardError; end
  end
end
