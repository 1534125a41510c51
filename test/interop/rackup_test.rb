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

  # These cases call no other code of Rack than the rest does.
  %i[test_a_unix_socket_is_served_by_five_workers test_term_lets_requests_finish test_a_port_in_use_is_an_error
     test_an_unknown_option_and_preload_are_errors
     test_a_killed_master_is_replaced_with_the_same_application].each do |name|
    define_method(name) { Support::Length::LONG ? super() : skip("in the long form") }
  end
end
