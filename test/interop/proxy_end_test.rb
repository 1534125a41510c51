# frozen_string_literal: true

require "test_helper"
require_relative "support/test_case"

# A proxy that does not end when it is told to does not matter to the tests of this directory.
class ProxyEndTest < Interop::TestCase
  # Listens on no address.
  class Deaf < Interop::Proxy
    SITES = {}.freeze

    def command = ["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 60; done"]
  end

  def test_a_proxy_that_does_not_end_fails_no_test
    @entrances = {}
    process = start_proxy(Deaf.new(temp_dir, nil))
    process.wait_for_output(/deaf/)
    assert_nil problem_of(process)
    assert_empty process.group
  end
end
