# frozen_string_literal: true

require "test_helper"

# The base of the tests in this directory. A check gets the root directory of a source tree and returns the tree's
# faults as lines of text. A test runs the check on this repository and on made-up trees.
module Lint
  Dir[File.join(__dir__, "checks", "**", "*.rb")].each { |file| require file }

  # A test of one check: the check finds no fault in this tree, and finds the faults of made-up trees.
  class TestCase < Support::TestCase
    # files, more: { path => text }. Returns the faults that the check finds in a tree of these files. listed: the
    # exceptions, for a check that has a list of them.
    def faults(check, files = {}, listed: {}, **more)
      files.merge(more).each { |path, text| temp_file(path, text) }
      check.new(temp_dir, **(check.const_defined?(:LISTED) ? { listed: listed } : {})).faults
    end

    def assert_clean(check)
      assert_empty check.new(ROOT).faults
    end
  end
end
