# frozen_string_literal: true

require "test_helper"

# The harness puts Rack::Lint in front of the applications of tests.
class LintedTest < Support::TestCase
  # A response with status 204 has no Content-Length (RFC 9110 8.6), and Rack's SPEC forbids the field.
  APPLICATION = 'run ->(_) { [204, { "content-length" => "1" }, []] }'

  def test_a_response_that_breaks_the_spec_is_an_error
    server = start_bontebok(args: %w[-w 1], rackup: APPLICATION)
    assert_equal 500, server.get.status
    server.wait_for_output(/Rack::Lint::LintError/)
  end

  def test_a_test_can_do_without_rack_lint
    server = start_bontebok(args: %w[-w 1], rackup: APPLICATION, lint: false)
    assert_equal 204, server.get.status
  end
end
