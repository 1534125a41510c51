# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"
require "bontebok/workers/worker_files"
require "minitest/mock"

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
    assert_match(/\Aenvironment PORT: listen wants HOST:PORT/, error.message)
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
    assert_match(/\Aenvironment PORT: listen wants HOST:PORT/, error.message)
  end

  # A root's TMPDIR may be closed to the user of the option `user`.
  def test_another_directory_replaces_a_tmpdir_that_cannot_be_written_to
    file = temp_file("file")
    { "/proc/none" => "No such file or directory", file => "Not a directory" }.each do |path, reason|
      config = config(env: { "TMPDIR" => path })
      assert_equal ["/tmp", "instead of TMPDIR"], [config[:spool_dir], config.source(:spool_dir)]
      assert_equal ["TMPDIR #{path} cannot be written to: #{reason}. Temporary files are made in /tmp"], config.warnings
    end
    config = config({ user: ["nobody"] }, env: { "TMPDIR" => temp_dir })
    assert_equal [Process.uid.zero? ? "/tmp" : temp_dir, nil], [config[:spool_dir], config.warnings[1]]
  end

  def test_another_directory_replaces_a_default_that_cannot_be_written_to
    config = Bontebok::SpoolDir.stub(:fault, ->(path) { "Read-only file system" if path == "/tmp" }) { config() }
    assert_equal "/var/tmp", config[:spool_dir]
    assert_equal ["spool_dir /tmp cannot be written to: Read-only file system. Temporary files are made in /var/tmp"],
                 config.warnings
  end

  def test_a_spool_dir_of_the_user_is_never_replaced
    config = config({ spool_dir: ["/proc/none"] }, env: { "TMPDIR" => "/proc/nowhere" })
    assert_equal ["/proc/none", []], [config[:spool_dir], config.warnings]
    assert_equal "spool_dir /proc/none cannot be written to: No such file or directory", refusal(config)
  end

  def test_without_any_directory_the_message_says_what_to_set
    Bontebok::SpoolDir.stub(:fault, "Read-only file system") do
      advice = "cannot be written to: Read-only file system. Set spool_dir to another directory"
      assert_equal "TMPDIR /x #{advice}", refusal(config(env: { "TMPDIR" => "/x" }))
      assert_equal "spool_dir /tmp #{advice}", refusal(config)
    end
  end

  private

  def refusal(config)
    assert_raises(Bontebok::StartError) { Bontebok::WorkerFiles.check_spool_dir(config) }.message
  end

  def config(written = {}, env: {})
    Bontebok::Config.new(written, env: env)
  end
end
