# frozen_string_literal: true

require "test_helper"
require_relative "support/cable_cases"
require_relative "support/servers/on_bontebok"
require_relative "support/servers/on_puma"

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

# Runs the same application behind puma. This takes as long as the test of Bontebok, so it is only in the long form.
if Support::Length::LONG
  class CableOnPumaTest < Support::TestCase
    include Interop::OnPuma
    include Interop::CableSite
    include Interop::CableCases
  end
end
