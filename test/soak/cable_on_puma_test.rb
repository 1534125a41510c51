# frozen_string_literal: true

require "test_helper"
require_relative "../interop/support/cable_cases"
require_relative "../interop/support/servers/on_puma"

# Runs the application of CableOnBontebokTest behind puma, to show that the tests expect nothing that only Bontebok
# does. On a busy machine, puma needs more than 10 s for a response.
class CableOnPumaTest < Support::TestCase
  include Support::OnceMore
  include Interop::OnPuma
  include Interop::CableSite
  include Interop::CableCases
end
