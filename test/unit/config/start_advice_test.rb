# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"

# Tests the hints about missing directories. config_style_defaults_test.rb tests those about unread files,
# rails_advice_test.rb those about Rails.
class StartAdviceTest < Support::TestCase
  def test_missing_directories_are_told
    path = temp_file("a.rb", "x_sendfile ['/usr', '/proc/none', '/files=/proc/gone']\n" \
                             "restart_file '/proc/lost/restart.txt'\n")
    assert_equal ["#{path}:1: x_sendfile: the directory /proc/none does not exist",
                  "#{path}:1: x_sendfile: the directory /proc/gone does not exist",
                  "#{path}:2: restart_file: the directory /proc/lost does not exist"], advice(config_file: [path])
  end

  def test_directories_that_exist_are_not_told
    assert_empty advice(x_sendfile: ["/usr /files=/usr"], restart_file: ["/usr/restart.txt"])
  end

  private

  def advice(values)
    Dir.chdir(temp_dir) { Bontebok::Config.new(values, env: {}).advice }
  end
end
