# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"

# Tests limits that are random, from three quarters of an option's value to its value.
class SpreadsTest < Support::TestCase
  def test_the_request_limit_is_random
    assert_equal [0, [1], [2], [3, 4], [75, 100]],
                 [config.request_limit, limits(1), limits(2), limits(4), limits(100).minmax]
  end

  def test_the_number_of_requests_until_an_out_of_band_run_is_random
    assert_equal [false, 50], [config[:oob_gc], config[:max_gc_per_request]]
    assert_equal [[38, 50], [1], [3, 4]], [numbers(50).minmax, numbers(1), numbers(4)]
    error = assert_raises(Bontebok::UsageError) { config(max_gc_per_request: ["0"]) }
    assert_equal "command line: max_gc_per_request wants a whole number from 1 to 2147483648, not \"0\"", error.message
  end

  private

  def config(**written)
    Bontebok::Config.new(written, env: {})
  end

  def limits(most)
    chosen(config(max_request_per_child: [most.to_s]), :request_limit)
  end

  def numbers(most)
    chosen(config(max_gc_per_request: [most.to_s]), :requests_per_gc)
  end

  def chosen(config, limit)
    Array.new(1000) { config.public_send(limit) }.uniq.sort
  end
end
