# frozen_string_literal: true

require "test_helper"

# The base of the tests in this directory. A check gets the root of a tree and returns the tree's faults as lines of
# text. So a test can show it a bad tree as well as this one.
module Lint
  Dir[File.join(__dir__, "checks", "*.rb")].each { |file| require file }

  # A test of one check: the check finds no fault in this tree, and finds the faults of made-up trees.
  class TestCase < Support::TestCase
    # The faults that the check finds in a tree of the given files.
    def faults(check, files)
      files.each { |path, text| temp_file(path, text) }
      check.new(temp_dir).faults
    end

    def assert_clean(check)
      assert_empty check.new(ROOT).faults
    end
  end
end
