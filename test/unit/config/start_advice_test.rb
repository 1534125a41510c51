# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"

# Tests the hints about missing directories and RAILS_ENV. config_style_defaults_test.rb tests those about unread files.
class StartAdviceTest < Support::TestCase
  def test_missing_directories_are_told
    path = temp_file("a.rb", "x_sendfile ['/usr', '/proc/none', '/files=/proc/gone']\n" \
                             "restart_file '/proc/lost/restart.txt'\n")
    assert_equal ["#{path}:1: XSendfile: the directory /proc/none does not exist",
                  "#{path}:1: XSendfile: the directory /proc/gone does not exist",
                  "#{path}:2: RestartFile: the directory /proc/lost does not exist"], advice(config_file: [path])
  end

  def test_directories_that_exist_are_not_told
    assert_empty advice(x_sendfile: ["/usr /files=/usr"], restart_file: ["/usr/restart.txt"])
  end

  def test_rails_with_an_environment_of_its_own
    FileUtils.mkdir(File.join(temp_dir, "bin"))
    temp_file("bin/rails", "")
    production = { environment: ["production"] }
    assert_equal ["Rails runs in development, because RAILS_ENV is set: Environment production has no effect on it"],
                 advice(production, { "RAILS_ENV" => "development" })
    assert_empty advice(production, { "RAILS_ENV" => "production" })
    assert_empty advice(production, { "RAILS_ENV" => "" })
  end

  def test_rails_env_without_rails
    assert_empty advice({ environment: ["production"] }, { "RAILS_ENV" => "development" })
  end

  private

  def advice(values, env = {})
    Dir.chdir(temp_dir) { Bontebok::Config.new(values, env: env).advice }
  end
end
