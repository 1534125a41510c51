# frozen_string_literal: true

require "test_helper"

# Tests that a test without an assertion fails.
class AssertingTest < Minitest::Test
  class Sample < Minitest::Test
    # Minitest must not run the sample as a test.
    def self.runnable_methods = []

    def test_that_asserts = assert(true)
    def test_that_skips = skip
    def test_without = nil
  end

  def test_a_test_without_an_assertion_fails
    result = Sample.new(:test_without).run
    assert_equal "the test has no assertion", result.failure.message
    assert_match(/asserting_test\.rb:\d+\z/, result.failure.location)
  end

  def test_other_tests_have_their_own_result
    assert_predicate Sample.new(:test_that_asserts).run, :passed?
    assert_predicate Sample.new(:test_that_skips).run, :skipped?
  end
end
