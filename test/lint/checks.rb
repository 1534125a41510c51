# frozen_string_literal: true

require "test_helper"

# What the tests of this directory are made of: each check is given the root of a tree and returns its faults as lines
# of text, so that it can be shown a bad tree as well as this one.
module Lint
  Dir[File.join(__dir__, "checks", "*.rb")].each { |file| require file }

  # A test of one check: this tree is without fault, and made-up ones are not.
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
