# frozen_string_literal: true

require "test_helper"
require_relative "../support/config_case"

# Tests the effective values of options, and the sources of these values.
class ConfigTest < Support::TestCase
  include ConfigCase

  def test_options_have_defaults
    config = config()
    assert_equal [true, 0, 30_000], values(config, :preload, :max_request_per_child, :graceful_timeout)
    assert_equal ["default"], config.report.map(&:last).uniq
  end

  def test_the_command_line_overrides_the_file_and_the_file_overrides_the_environment
    path = temp_file("bontebok.rb", "environment 'file'\n")
    env = { "RACK_ENV" => "variable" }
    assert_equal(%w[line file variable development],
                 [config({ environment: ["line"], config_file: [path] }, env: env.dup),
                  config({ config_file: [path] }, env: env), config(env: env), config].map { |one| one[:environment] })
    assert_equal "#{path}:1", config({ config_file: [path] }).source(:environment)
    assert_equal "environment RACK_ENV", config(env: env).source(:environment)
  end

  # The code in the configuration file can read RACK_ENV.
  def test_the_file_sees_the_environment_of_the_command_line_or_of_rails
    path = temp_file("bontebok.rb", "server ENV.fetch('RACK_ENV')\n")
    before = ENV.to_h
    ENV.update("APP_ENV" => nil, "RACK_ENV" => nil, "RAILS_ENV" => "rails")
    assert_equal "line", config({ environment: ["line"], config_file: [path] }, env: ENV)[:server]
    rails = config({ config_file: [path] }, env: ENV)
    assert_equal ["rails", "environment RAILS_ENV"], [rails[:server], rails.source(:environment)]
  ensure
    ENV.replace(before)
  end

  # A wrong value of the variable does not count if the file sets the environment.
  def test_the_file_may_set_rack_env
    path = temp_file("bontebok.rb", "ENV['RACK_ENV'] ||= 'mine'\n")
    before = ENV.to_h
    ENV.update("APP_ENV" => nil, "RACK_ENV" => nil, "RAILS_ENV" => nil)
    assert_equal "mine", config({ config_file: [path] }, env: ENV)[:environment]
    path = temp_file("own.rb", "environment 'own'\n")
    assert_equal "own", config({ config_file: [path] }, env: { "RACK_ENV" => "a b" })[:environment]
  ensure
    ENV.replace(before)
  end

  # A file may also be used where the user does not exist.
  def test_the_owner_of_unix_sockets_must_exist_if_there_are_any
    owner = { socket_owner: ["nosuch"] }
    assert_equal "nosuch", config({ **owner, listen: ["127.0.0.1:0"] })[:socket_owner]
    assert_raises(Bontebok::UsageError) { config({ **owner, listen: ["unix:/a"] }) }
  end

  # The file names look like the names of two other sources of values: "default" and "environment".
  def test_defaults_and_variables_do_not_choose_an_option
    %w[default.rb environment.rb].each do |name|
      temp_file(name, "backlog 7\n")
      given = { config_file: [name], listen: ["80"] }
      asked = in_directory(temp_dir) { config(given, env: { "WEB_CONCURRENCY" => "2" }) }
      assert_equal %i[backlog listen], %i[backlog listen max_workers threads].select { |key| asked.chosen?(key) }, name
    end
    assert config(given: { listen: ["80"] }).chosen?(:listen)
    refute config(env: { "PORT" => "80" }, defaults: { backlog: 5 }).chosen?(:listen)
  end

  # If another program passes listeners, addresses that are not chosen are not opened.
  def test_a_file_for_puma_may_leave_the_addresses_to_systemd
    { "'only'" => false, "" => true, "false" => true }.each do |value, chosen|
      path = temp_file("puma.rb", "bind 'tcp://127.0.0.1:80'\nbind_to_activated_sockets #{value}\n")
      [{}, { listen: ["127.0.0.1:80"] }].each do |written|
        asked = config(written.merge(config_file: [path]))
        assert_equal [chosen, "127.0.0.1:80"], [asked.chosen?(:listen), asked[:listen].join], value
      end
    end
  end

  def test_a_file_is_found_in_its_usual_place
    in_directory(File.dirname(temp_file("config/bontebok.rb", "threads 4\n"), 2)) do
      found = config
      assert_equal [4, "config/bontebok.rb:1", "config/bontebok.rb", "found"],
                   [found[:threads], found.source(:threads), found[:config_file], found.source(:config_file)]
      assert_equal 3, config({ config_file: [temp_file("other.rb", "server 'x'")] })[:threads]
    end
  end

  def test_a_soft_limit_that_is_not_below_the_hard_limit_causes_a_warning
    limits = { request_timeout: ["5"], request_timeout_soft: ["5"] }
    assert_equal ["request_timeout_soft is not below request_timeout: its exception comes after the response"],
                 config(limits).warnings
    assert_empty config(limits.merge(request_timeout: ["6"])).warnings
    assert_empty config(limits.merge(request_timeout: ["0"])).warnings
  end

  def test_host_port_and_path_set_the_address
    { "port 81" => "0.0.0.0:81", "host 'a.example'" => "a.example:9292", "path '/a'\nport 1" => "unix:/a",
      "path nil\nhost nil" => config[:listen].join, "host '::1'\nport 9202" => "[::1]:9202",
      "host '[::1]'" => "[::1]:9292", "host :localhost" => "localhost:9292" }.each do |text, address|
      path = temp_file("rhebok.rb", text)
      assert_equal address, config({ config_file: [path] })[:listen].join, text
    end
  end

  def test_the_directory_of_the_command_line_overrides_the_directory_of_the_file
    before = Dir.pwd
    temp_file("app/config/bontebok.rb", "directory 'config'\nlisten 'unix:a.sock'\n")
    config = config({ directory: ["#{temp_dir}/app"] })
    assert_equal ["unix:#{File.realpath(temp_dir)}/app/a.sock", "#{temp_dir}/app"],
                 [config[:listen].join, config[:directory]]
    Dir.chdir(temp_dir)
    error = assert_raises(Bontebok::StartError) { config({ directory: ["nowhere"] }) }
    assert_equal ["command line: cannot change to the directory nowhere: No such file or directory", 1],
                 [error.message, error.exit_status]
  ensure
    Dir.chdir(before)
  end

  def test_the_last_of_several_values_counts
    assert_equal 3, config({ max_workers: %w[2 3] })[:max_workers]
  end

  def test_the_timeout_of_rhebok_is_the_default_of_three_timeouts
    path = temp_file("bontebok.rb", "body_timeout 9\ntimeout 7\n")
    config = config({ config_file: [path], write_timeout: ["8"] }, given: { timeout: ["6"] })
    assert_equal [7000, 9000, 8000, 75_000], values(config, :header_timeout, :body_timeout, :write_timeout,
                                                    :keepalive_timeout)
    sources = %i[header_timeout body_timeout write_timeout].map { |key| config.source(key) }
    assert_equal ["#{path}:2", "#{path}:1", "command line"], sources
    error = assert_raises(Bontebok::UsageError) { config(given: { timeout: ["soon"] }) }
    assert_match(/\Arackup -O: Timeout wants a time/, error.message)
    Bontebok::Config.new({}, given: { timeout: ["soon"] }, faults: faults = Bontebok::Faults.new, env: {})
    assert_equal [error.message], faults.messages
  end

  def test_core_settings_have_the_values_of_the_options
    settings = config({ spool_threshold: ["2K"] }).core_settings
    assert_equal [2048, 2048], settings.values_at(:spool_threshold, :response_buffer)
    settings = config({ server: ["x/1"], spool_dir: ["/var/tmp"], allow_underscore_headers: ["true"] }).core_settings
    assert_equal [true, "x/1", "/var/tmp", 16_384, ""],
                 settings.values_at(:allow_underscore_headers, :server_name, :spool_dir, :max_target, :ready_path)
  end

  def test_the_message_about_a_wrong_value_names_its_place
    assert_usage_error('command line: max_target wants a size such as 65536, 64K, 1M or 2G, not "big"',
                       max_target: ["big"])
    error = assert_raises(Bontebok::UsageError) { config(env: { "RACK_ENV" => "a b" }) }
    assert_match(/\Aenvironment RACK_ENV: environment wants a name/, error.message)
  end

  def test_long_wrong_values_are_cut
    error = assert_raises(Bontebok::UsageError) { config({ threads: ["x\n" * 500] }) }
    assert_operator error.message.size, :<, 1100
    assert_equal 1, error.message.lines.size
  end

  def test_report_has_a_line_for_each_option
    report = config({ max_workers: ["2"] }).report
    assert_equal Bontebok::OptionTable::ALL.map(&:name), report.map(&:first)
    assert_includes report, ["max_workers", "2", "command line"]
    assert_includes report, %w[max_target 16K default]
    production = config({ environment: ["production"] })
    assert_includes production.report, ["max_workers", "auto (at most #{Bontebok::Cpus.new.count})", "default"]
  end

  private

  def in_directory(path)
    before = Dir.pwd
    Dir.chdir(path)
    yield
  ensure
    Dir.chdir(before)
  end

  def assert_usage_error(message, written)
    error = assert_raises(Bontebok::UsageError) { config(written) }
    assert_equal message, error.message
  end
end
