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

  def test_a_file_with_a_wrong_style_is_not_read
    path = temp_file("bontebok.rb", "raise\n")
    out, err = Dir.chdir(temp_dir) { check({ listen: ["bad"], config_file: [path], config_style: ["foo"] }) }
    assert_match(/^ConfigStyle +none +default, because the value is wrong$/, out)
    assert_match(/\Abontebok: command line: ConfigStyle wants bontebok, puma, .*, not "foo"$/, err)
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
