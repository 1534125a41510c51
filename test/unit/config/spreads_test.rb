# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"

# Tests numbers of requests that are random between a Min option and a Max option.
class SpreadsTest < Support::TestCase
  def test_the_request_limit_is_between_min_and_max
    assert_equal 0, config.request_limit
    assert_equal 9, config(max_request_per_child: ["9"]).request_limit
    spread = config(max_request_per_child: ["9"], min_request_per_child: ["7"])
    assert_equal [7, 8, 9], Array.new(200) { spread.request_limit }.uniq.sort
    assert_refused("MinRequestPerChild (3) must not be above MaxRequestPerChild (2)",
                   max_request_per_child: ["2"], min_request_per_child: ["3"])
  end

  def test_the_requests_per_gc_are_between_min_and_max
    assert_equal [false, 5], [config[:oob_gc], config.requests_per_gc]
    spread = config(max_gc_per_request: ["9"], min_gc_per_request: ["7"])
    assert_equal [7, 8, 9], Array.new(200) { spread.requests_per_gc }.uniq.sort
    assert_refused("MinGCPerRequest (6) must not be above MaxGCPerRequest (5)", min_gc_per_request: ["6"])
    assert_refused("command line: MaxGCPerRequest wants a whole number from 1 to 2147483648, not \"0\"",
                   max_gc_per_request: ["0"])
  end

  private

  def config(**written)
    Bontebok::Config.new(written, env: {})
  end

  def assert_refused(message, **written)
    assert_equal message, assert_raises(Bontebok::UsageError) { config(**written) }.message
  end
end
