# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"

# Tests the values and the defaults that rackup and `rails server` pass to Config.
class ConfigGivenTest < Support::TestCase
  def test_the_file_overrides_rackup_and_rackup_overrides_the_environment
    path = temp_file("bontebok.rb", "threads 2\n")
    given = { given: { threads: ["3"], environment: ["given"] }, env: { "RACK_ENV" => "variable" } }
    both = Bontebok::Config.new({ config_file: [path] }, **given)
    assert_equal [2, "given", "rackup -O"], [both[:threads], both[:environment], both.source(:environment)]
    assert_equal "line", Bontebok::Config.new({ environment: ["line"] }, **given)[:environment]
  end

  def test_defaults_can_be_replaced
    defaults = { header_timeout: 7000, write_timeout: 7000, max_workers: 3 }
    config = Bontebok::Config.new({ write_timeout: ["9"] }, defaults: defaults, env: {})
    assert_equal([7000, 9000, 3], %i[header_timeout write_timeout max_workers].map { |key| config[key] })
    assert_equal "default", config.source(:max_workers)
  end

  def test_a_variable_overrides_replaced_defaults
    config = Bontebok::Config.new(defaults: { environment: "other" }, env: { "RACK_ENV" => "variable" })
    assert_equal "variable", config[:environment]
  end
end
