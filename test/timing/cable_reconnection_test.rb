# frozen_string_literal: true

require "test_helper"
require_relative "../interop/support/cable_reconnection"
require_relative "../interop/support/servers/on_bontebok"

# Tests that pages lose no message while Bontebok replaces the workers of their WebSockets.
class CableReconnectionTest < Support::TestCase
  include Support::OnceMore
  include Interop::OnBontebok
  include Interop::CableSite
  include Interop::CableReconnection
end
