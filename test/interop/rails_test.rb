# frozen_string_literal: true

require "test_helper"
require_relative "support/rails_cases"

# A Rails application as it is deployed: eager loaded before the workers are forked, assets precompiled.
class RailsProductionTest < Interop::TestCase
  include Interop::RailsCases

  def environment
    "production"
  end
end

# The same as it is developed: constants loaded on demand, code watched for changes, error pages with backtraces.
class RailsDevelopmentTest < Interop::TestCase
  include Interop::RailsCases

  def environment
    "development"
  end
end
