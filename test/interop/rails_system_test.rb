# frozen_string_literal: true

require "fileutils"
require "test_helper"
require_relative "support/rails_app"

# Runs system tests of the Rails application, with Capybara and Chromium. The tests are in test/interop/rails/test.
class RailsSystemTest < Support::TestCase
  # Seconds for two processes with a browser each, on a busy machine.
  LIMIT = 120

  def test_system_tests_pass_with_the_server_of_capybara
    FileUtils.cp_r(File.join(Interop::RailsApp.prepare, "."), temp_dir)
    environment = Interop::RailsApp.environment.merge("HOME" => temp_dir)
    tests = Support::ChildProcess.run(RbConfig.ruby, "test/system/notes_test.rb",
                                      env: environment, chdir: temp_dir, limit: LIMIT)
    assert_predicate tests.status, :success?, tests.output.text
    assert_match(/^4 runs, \d+ assertions, 0 failures, 0 errors, 0 skips$/, tests.output.text)
  end
end
