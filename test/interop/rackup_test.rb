# frozen_string_literal: true

require "test_helper"
require_relative "support/rackup_cases"

# Runs the command of the gem rackup, with Rack 3.
class RackupTest < Support::TestCase
  include Interop::RackupCases

  def gemfile
    "Gemfile"
  end

  def release
    "3"
  end
end

# Runs the command rackup of Rack 2.2.
class Rack2RackupTest < Support::TestCase
  include Interop::RackupCases

  def gemfile
    "gemfiles/rack2.2.gemfile"
  end

  def release
    "2"
  end
end
