# frozen_string_literal: true

module Interop
  # Tests of many connections have a short form, and a long form for `bin/test --full`.
  module Length
    LONG = ENV.key?("BONTEBOK_TEST_LONG")

    # Returns the number for the form that runs.
    def self.of(short, long)
      LONG ? long : short
    end
  end
end
