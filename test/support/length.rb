# frozen_string_literal: true

module Support
  # Some tests have a short form, and a long form for `bin/test --full`. Some have only the long form.
  module Length
    LONG = ENV.key?("BONTEBOK_TEST_LONG")

    # Returns the number for the form that runs.
    def self.of(short, long)
      LONG ? long : short
    end
  end
end
