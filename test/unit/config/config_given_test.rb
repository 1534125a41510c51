# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"

# Tests of the values and defaults of rackup and rails server.
class ConfigGivenTest < Support::TestCase
  def test_what_rackup_gives_is_between_file_and_environment
    path = temp_file("bontebok.rb", "threads 2\n")
    given = { given: { threads: ["3"], environment: ["given"] }, env: { "RACK_ENV" => "variable" } }
    both = Bontebok::Config.new({ config_file: [path] }, **given)
    assert_equal [2, "given", "rackup -O"], [both[:threads], both[:environment], both.source(:environment)]
    assert_equal "line", Bontebok::Config.new({ environment: ["line"] }, **given)[:environment]
  end

  def test_other_defaults
    config = Bontebok::Config.new({ write_timeout: ["9"] }, defaults: { timeout: 7000, max_workers: 3 }, env: {})
    assert_equal([7000, 9000, 3], %i[header_timeout write_timeout max_workers].map { |key| config[key] })
    assert_equal "default", config.source(:max_workers)
  end

  def test_a_variable_wins_over_other_defaults
    config = Bontebok::Config.new(defaults: { environment: "other" }, env: { "RACK_ENV" => "variable" })
    assert_equal "variable", config[:environment]
  end
end
