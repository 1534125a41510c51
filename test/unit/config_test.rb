# frozen_string_literal: true

require "test_helper"
require "bontebok/config"

# Effective values, and where they come from.
class ConfigTest < Support::TestCase
  def test_defaults
    config = config()
    assert_equal [:auto, 1, true, 0, 30_000], values(config, :max_workers, :threads, :preload, :max_request_per_child,
                                                     :graceful_timeout)
    assert_equal ["default"], config.report.map(&:last).uniq
    assert_equal Etc.nprocessors, config.workers
  end

  def test_where_it_listens_by_default_depends_on_the_environment
    assert_equal "127.0.0.1:9292", config[:listen].join
    assert_equal "0.0.0.0:9292", config({ environment: ["production"] })[:listen].join
    assert_equal "0.0.0.0:9292", config(env: { "RACK_ENV" => "test" })[:listen].join
    assert_equal "0.0.0.0:1", config({ listen: ["1"] })[:listen].join
  end

  def test_command_line_wins_over_file_over_environment_over_default
    path = temp_file("bontebok.rb", "environment 'file'\n")
    env = { "RACK_ENV" => "variable" }
    assert_equal(%w[line file variable development],
                 [config({ environment: ["line"], config_file: [path] }, env: env.dup),
                  config({ config_file: [path] }, env: env), config(env: env), config].map { |one| one[:environment] })
    assert_equal "#{path}:1", config({ config_file: [path] }).source(:environment)
    assert_equal "environment RACK_ENV", config(env: env).source(:environment)
  end

  # It is given to the application later, but the file wants to know already now.
  def test_the_file_sees_the_environment_of_the_command_line
    path = temp_file("bontebok.rb", "server ENV.fetch('RACK_ENV')\n")
    before = ENV.fetch("RACK_ENV", nil)
    assert_equal "line", config({ environment: ["line"], config_file: [path] }, env: ENV)[:server]
  ensure
    ENV["RACK_ENV"] = before
  end

  def test_a_blank_variable_is_not_set
    assert_equal "development", config(env: { "RACK_ENV" => " " })[:environment]
  end

  def test_the_last_of_several_values_holds
    assert_equal 3, config({ max_workers: %w[2 3] })[:max_workers]
  end

  def test_timeout_is_for_three_unless_they_are_set
    config = config({ timeout: ["7"], body_timeout: ["9"] })
    assert_equal [7000, 9000, 7000, 75_000], values(config, :header_timeout, :body_timeout, :write_timeout,
                                                    :keepalive_timeout)
    assert_equal "Timeout, command line", config.source(:header_timeout)
  end

  def test_core_settings
    settings = config({ server: ["x/1"], spool_dir: ["/var/tmp"], allow_underscore_headers: ["true"] }).core_settings
    assert_equal [true, "x/1", "/var/tmp", 16_384],
                 settings.values_at(:allow_underscore_headers, :server_name, :spool_dir, :max_target)
  end

  def test_request_limits
    assert_equal 0, config.request_limit
    assert_equal 9, config({ max_request_per_child: ["9"] }).request_limit
    spread = config({ max_request_per_child: ["9"], min_request_per_child: ["7"] })
    assert_equal [7, 8, 9], Array.new(200) { spread.request_limit }.uniq.sort
    assert_usage_error("MinRequestPerChild (3) must not be above MaxRequestPerChild (2)",
                       max_request_per_child: ["2"], min_request_per_child: ["3"])
  end

  def test_a_wrong_value_is_told_with_its_place
    assert_usage_error('command line: MaxTarget wants a size such as 65536, 64K, 1M or 2G, not "big"',
                       max_target: ["big"])
    error = assert_raises(Bontebok::UsageError) { config(env: { "RACK_ENV" => "a b" }) }
    assert_match(/\Aenvironment RACK_ENV: Environment wants a name/, error.message)
  end

  def test_long_wrong_values_are_cut
    error = assert_raises(Bontebok::UsageError) { config({ threads: ["x\n" * 500] }) }
    assert_operator error.message.size, :<, 200
    assert_equal 1, error.message.lines.size
  end

  def test_report_has_a_line_for_each_option
    report = config({ max_workers: ["2"] }).report
    assert_equal Bontebok::OptionTable::ALL.map(&:name), report.map(&:first)
    assert_includes report, ["MaxWorkers", "2", "command line"]
    assert_includes report, %w[MaxTarget 16K default]
    assert_includes config.report, ["MaxWorkers", "auto (#{Etc.nprocessors})", "default"]
  end

  private

  def config(written = {}, env: {})
    Bontebok::Config.new(written, env: env)
  end

  def values(config, *keys)
    keys.map { |key| config[key] }
  end

  def assert_usage_error(message, written)
    error = assert_raises(Bontebok::UsageError) { config(written) }
    assert_equal message, error.message
  end
end
