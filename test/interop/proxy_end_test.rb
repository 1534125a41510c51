# frozen_string_literal: true

require "test_helper"
require_relative "support/test_case"

# Tests that a proxy which ignores TERM is killed at the end of a test, and does not make the test fail.
class ProxyEndTest < Interop::TestCase
  # A proxy that ignores TERM and listens on no address.
  class Deaf < Interop::Proxy
    SITES = {}.freeze

    def command = ["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 60; done"]
  end

  def test_a_proxy_that_ignores_term_fails_no_test
    @entrances = {}
    process = start_proxy(Deaf.new(temp_dir, nil))
    process.wait_for_output(/deaf/)
    assert_nil problem_of(process)
    eventually("the killed processes to end") { process.group.empty? }
  end
end
