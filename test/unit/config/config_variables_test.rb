# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"

# Tests of the environment variables.
class ConfigVariablesTest < Support::TestCase
  def test_a_blank_variable_is_not_set
    blank = { "RACK_ENV" => " ", "PORT" => "", "WEB_CONCURRENCY" => "\n", "RAILS_MAX_THREADS" => "" }
    assert_equal config.report, config(env: blank).report
  end

  def test_port_web_concurrency_and_rails_max_threads_set_options
    config = config(env: { "PORT" => "3000", "WEB_CONCURRENCY" => "3", "RAILS_MAX_THREADS" => "5" })
    assert_equal ["127.0.0.1:3000", 3, 5], [config[:listen].first.to_s, config[:max_workers], config[:threads]]
    assert_equal(["environment PORT", "environment WEB_CONCURRENCY", "environment RAILS_MAX_THREADS"],
                 %i[listen max_workers threads].map { |key| config.source(key) })
    assert_equal "0.0.0.0:3000", config(env: { "PORT" => "3000", "RACK_ENV" => "production" })[:listen].join
    assert_equal "0.0.0.0:1", config({ listen: ["1"] }, env: { "PORT" => "3000" })[:listen].join
    assert_equal :auto, config(env: { "WEB_CONCURRENCY" => "auto" })[:max_workers]
    error = assert_raises(Bontebok::UsageError) { config(env: { "PORT" => "http" }) }
    assert_match(/\Aenvironment PORT: Listen wants HOST:PORT/, error.message)
  end

  # Container images of Rails set only RAILS_ENV.
  def test_rack_env_or_rails_env_sets_the_environment
    config = config(env: { "RACK_ENV" => " ", "RAILS_ENV" => "production" })
    assert_equal ["production", "environment RAILS_ENV"], [config[:environment], config.source(:environment)]
    assert_equal "test", config(env: { "RACK_ENV" => "test", "RAILS_ENV" => "production" })[:environment]
  end

  # Sinatra and puma read APP_ENV first.
  def test_app_env_wins_over_rack_env
    env = { "APP_ENV" => "staging", "RACK_ENV" => "test", "RAILS_ENV" => "production" }
    config = config(env: env)
    assert_equal ["staging", "environment APP_ENV"], [config[:environment], config.source(:environment)]
    config = config({ config_file: [temp_file("puma.rb", "")] }, env: env)
    assert_equal "staging", config[:environment]
  end

  # foreman and Heroku set PORT. The file of the other server decides which addresses are served.
  def test_port_has_the_host_of_the_default_address
    assert_equal "*:5000", config({ config_file: [temp_file("puma.rb", "")] }, env: { "PORT" => "5000" })[:listen].join
    unicorn = config({ config_file: [temp_file("unicorn.rb", "")] }, env: { "PORT" => "5000" })
    assert_equal ["0.0.0.0:5000", "environment PORT"], [unicorn[:listen].join, unicorn.source(:listen)]
  end

  def test_a_variable_may_have_any_bytes
    directory = Dir.mkdir(File.join(temp_dir, "Käse")) && "#{temp_dir}/Käse"
    assert_equal directory, config(env: { "TMPDIR" => directory.dup.force_encoding(Encoding::US_ASCII) })[:spool_dir]
    error = assert_raises(Bontebok::UsageError) { config(env: { "PORT" => "\xff " }) }
    assert_match(/\Aenvironment PORT: Listen wants HOST:PORT/, error.message)
  end

  private

  def config(written = {}, env: {})
    Bontebok::Config.new(written, env: env)
  end
end
