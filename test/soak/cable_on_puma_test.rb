# frozen_string_literal: true

require "test_helper"
require_relative "../interop/support/cable_cases"
require_relative "../interop/support/cable_reconnection"
require_relative "../interop/support/servers/on_puma"

# Runs the tests of Action Cable behind puma, to show that the tests expect nothing that only Bontebok
# does. On a busy machine, puma closes connections without a farewell.
class CableOnPumaTest < Support::TestCase
  include Support::OnceMore
  include Interop::OnPuma
  include Interop::CableSite
  include Interop::CableCases
  include Interop::CableReconnection
end
