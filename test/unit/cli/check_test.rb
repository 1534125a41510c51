# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/cli/check"

# Tests which checks follow from the faults of the configuration.
class CheckFaultsTest < Support::TestCase
  def test_the_default_address_does_not_replace_a_wrong_one
    out, err = Dir.chdir(temp_dir) { check({ listen: ["bad:addr:x"] }) }
    assert_match(/^Listen .* default, because the value is wrong$/, out)
    assert_match(/\Abontebok: command line: Listen wants .*\nbontebok: cannot read the rackup file .*\n\z/, err)
  end

  private

  def check(values)
    capture_io do
      Bontebok::ListenerList.stub(:make, ->(*) { raise Bontebok::StartError, "tried" }) do
        Bontebok::Check.new(values, notes: []).run
      end
    end
  end
end
