# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"

# Tests the hints about missing directories. config_style_defaults_test.rb tests those about files that are not read.
class StartAdviceTest < Support::TestCase
  def test_missing_directories_are_told
    path = temp_file("a.rb", "x_sendfile ['/usr', '/none', '/files=/gone']\nrestart_file '/lost/restart.txt'\n")
    assert_equal ["#{path}:1: XSendfile: the directory /none does not exist",
                  "#{path}:1: XSendfile: the directory /gone does not exist",
                  "#{path}:2: RestartFile: the directory /lost does not exist"], advice(config_file: [path])
  end

  def test_directories_that_exist_are_not_told
    assert_empty advice(x_sendfile: ["/usr /files=/usr"], restart_file: ["/usr/restart.txt"])
  end

  private

  def advice(values)
    Dir.chdir(temp_dir) { Bontebok::Config.new(values, env: {}).advice }
  end
end
