# frozen_string_literal: true

require "test_helper"
require_relative "support/rails_cases"

# A Rails application in production: it is eager loaded before the workers are forked, and its assets are precompiled.
class RailsProductionTest < Interop::TestCase
  include Interop::RailsCases

  def environment
    "production"
  end
end

# A Rails application in development: constants are loaded on demand, code is watched for changes, and error pages have
# backtraces.
class RailsDevelopmentTest < Interop::TestCase
  include Interop::RailsCases

  def environment
    "development"
  end
end
