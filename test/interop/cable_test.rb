# frozen_string_literal: true

require "test_helper"
require_relative "support/cable_cases"
require_relative "support/servers/on_bontebok"

# Runs a Rails application with Action Cable and Turbo behind Bontebok, in Chromium.
class CableOnBontebokTest < Support::TestCase
  include Interop::OnBontebok
  include Interop::CableSite
  include Interop::CableCases

  # Bontebok reads Range for every file of the application. In the other test, Rack reads it.
  def test_a_download_of_a_controller_is_resumed
    assert_resumed "/download"
  end
end
