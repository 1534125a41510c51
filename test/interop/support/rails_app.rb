# frozen_string_literal: true

require_relative "generated_app"

module Interop
  # The application of test/interop/rails: forms, uploads, sessions, assets.
  class RailsApp < GeneratedApp
    NAME = "antelopes"
    TEMPLATE = File.join(ROOT, "test/interop/rails")
    # These options leave out parts that need a database, a browser or more gems.
    OPTIONS = %w[--minimal --skip-active-record].freeze
  end
end
