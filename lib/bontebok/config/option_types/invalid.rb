# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # A value that is none of the type; the message says what is.
    class Invalid < StandardError; end
  end
end
