# frozen_string_literal: true

require "test_helper"

# Tests that a test with OnceMore runs a second time if it fails.
class OnceMoreTest < Support::TestCase
  # Counts its runs. The first `failures` runs fail.
  class Sample < Minitest::Test
    include Support::OnceMore

    class << self
      attr_accessor :failures, :runs

      # Minitest must not run the sample as a test.
      def runnable_methods = []
    end

    def test_it
      self.class.runs += 1
      assert_operator self.class.runs, :>, self.class.failures, "too early"
    end
  end

  { 0 => [true, 1], 1 => [true, 2], 2 => [false, 2] }.each do |failures, (passed, runs)|
    define_method("test_a_test_with_#{failures}_failures_runs_#{runs}_times") do
      result, = outcome(failures)
      assert_equal [passed, runs], [result.passed?, Sample.runs]
    end
  end

  def test_the_first_failure_is_printed_and_noted
    _result, output, noted = outcome(1)
    assert_includes output, "once more: OnceMoreTest::Sample#test_it"
    assert_includes output, "too early"
    assert_match(/\AOnceMoreTest::Sample#test_it .+\n\z/, noted)
  end

  def test_a_test_that_passes_is_not_reported
    _result, output, noted = outcome(0)
    assert_equal ["", ""], [output, noted]
  end

  private

  # Returns the sample's result, the sample's output, and the text in the file.
  def outcome(failures)
    Sample.failures = failures
    Sample.runs = 0
    file = temp_file("again")
    former = ENV.fetch(Support::OnceMore::FILE, nil)
    ENV[Support::OnceMore::FILE] = file
    result = nil
    output, = capture_io { result = Sample.new("test_it").run }
    [result, output, File.read(file)]
  ensure
    ENV[Support::OnceMore::FILE] = former
  end
end
