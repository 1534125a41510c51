# frozen_string_literal: true

require "json"
require "test_helper"
require "bontebok/config/supervisor_config"
require_relative "../support/config_case"

# Tests the defaults that come from the server that a configuration file is for.
class ConfigStyleDefaultsTest < Support::TestCase
  include ConfigCase

  def test_the_style_is_given_or_recognised_by_the_file_name
    path = temp_file("puma-production.rb", "workers 3\n")
    assert_equal [3, 5, true], values(config({ config_file: [path] }), :max_workers, :threads, :preload)
    path = temp_file("unicorn.conf.rb", "worker_processes 3\n")
    assert_equal [3, 1, false], values(config({ config_file: [path] }), :max_workers, :threads, :preload)
    path = temp_file("config/puma/production.rb", "quiet\nworkers 3\n")
    assert_equal 3, config({ config_file: [path] })[:max_workers]
    path = temp_file("puma/app.rb", "worker_processes 3\n")
    assert_equal 3, config({ config_file: [path], config_style: ["unicorn"] })[:max_workers]
    error = assert_raises(Bontebok::UsageError) { config({ config_file: [path] }) }
    assert_equal "#{path}:1: unknown option worker_processes (--config-style unicorn reads a file for unicorn)",
                 error.message
  end

  def test_a_file_of_another_server_that_is_not_read_causes_a_warning
    paths = %w[config/puma.rb config/puma/qa.rb config/unicorn.conf.rb config/pitchfork.conf.rb]
    paths.each { |path| temp_file(path) }
    Dir.chdir(temp_dir) do
      assert_equal paths.map { |path| "#{path} is not read: `bontebok -c #{path}` reads it" },
                   config({ environment: ["qa"] }).advice
      refute_includes config.advice.join, "qa"
      assert_empty config({ config_file: ["config/puma.rb"] }).advice
    end
  end

  # Applications that run under these servers need not be thread-safe.
  def test_files_for_unicorn_pitchfork_and_rhebok_have_one_thread
    env = { "RAILS_MAX_THREADS" => "5" }
    %w[unicorn pitchfork rhebok].each do |server|
      written = { config_file: [temp_file("#{server}.conf.rb")] }
      one = config(written, env: env)
      assert_equal [1, "#{server}'s default"], [one[:threads], one.source(:threads)]
      assert_equal 2, config(written.merge(threads: ["2"]), env: env)[:threads]
    end
  end

  # Environment variables override the defaults of a style (the language of a file, such as puma's).
  def test_a_style_has_its_own_defaults
    assert_equal "0.0.0.0:8080", config({ config_file: [temp_file("unicorn.rb")] })[:listen].join
    path = temp_file("puma.rb", "")
    assert_equal "*:9292", config({ config_file: [path] })[:listen].join
    one = config({ config_file: [path] }, env: { "RAILS_MAX_THREADS" => "2" })
    assert_equal [1, 2, false, "puma's default"], [*values(one, :max_workers, :threads, :preload), one.source(:preload)]
    two = config({ config_file: [path] }, env: { "WEB_CONCURRENCY" => "2" })
    assert_equal [2, 5, true], values(two, :max_workers, :threads, :preload)
  end

  def test_the_file_overrides_the_options_of_rackup
    given = { max_workers: ["8"], threads: ["3"], listen: ["1"] }
    path = temp_file("rhebok.rb", "max_workers 2\nport 2\n")
    config = config({ config_file: [path] }, given: given, env: { "RAILS_MAX_THREADS" => "9" })
    assert_equal [2, 3, "0.0.0.0:2"], [*values(config, :max_workers, :threads), config[:listen].join]
    assert_equal ["#{path}:1", "rackup -O", "#{path}:2"], sources(config, :max_workers, :threads, :listen)
    assert_equal "0.0.0.0:1", config(given: given)[:listen].join
  end

  def test_defaults_can_be_replaced
    config = config(defaults: { max_workers: 5, write_timeout: 300_000 }, env: { "RAILS_MAX_THREADS" => "2" })
    assert_equal [5, 2, 300_000, "default"], [*values(config, :max_workers, :threads, :write_timeout),
                                              config.source(:max_workers)]
  end

  # Sixteen workers on two CPUs have an eighth of a CPU each.
  def test_workers_that_load_at_the_same_time_have_more_time
    cpus = Bontebok::Cpus.new.count
    written = { max_workers: [(4 * cpus).to_s], worker_boot_timeout: ["10"] }
    assert_equal [10, 40], [config(written), config(written.merge(preload: ["false"]))].map(&:boot_seconds)
    assert_equal 10, config(written.merge(preload: ["false"], max_workers: ["1"])).boot_seconds
  end

  # Another version of Bontebok may not send all values.
  def test_the_supervisor_has_the_same_limits
    former = config({ preload: ["false"] })
    sent = config({ max_workers: [(4 * Bontebok::Cpus.new.count).to_s], worker_boot_timeout: ["10"] })
    data = JSON.parse(JSON.dump(Bontebok::SupervisorConfig.dump(sent)))
    assert_equal 10, Bontebok::SupervisorConfig.new(data, former).boot_seconds
    data["values"].delete("preload")
    assert_equal 40, Bontebok::SupervisorConfig.new(data, former).boot_seconds
  end
end
