# frozen_string_literal: true

require "test_helper"
require_relative "support/rails_cases"

# Tests a Rails application in production. The application is eager loaded before the workers are forked, and its assets
# are precompiled.
class RailsProductionTest < Interop::TestCase
  include Interop::RailsCases

  def environment
    "production"
  end
end

# Tests a Rails application in development. Constants are loaded on demand, code is watched for changes, and error pages
# have backtraces.
class RailsDevelopmentTest < Interop::TestCase
  include Interop::RailsCases

  def environment
    "development"
  end
end
