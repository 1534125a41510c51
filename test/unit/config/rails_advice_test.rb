# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"

# Tests the hints about an application of Rails: its environment, its jobs, Action Cable.
class RailsAdviceTest < Support::TestCase
  JOBS = "run `bin/jobs` beside the server"
  SET = "set SOLID_QUEUE_IN_PUMA=true, or #{JOBS}".freeze
  IN_PUMA = { "SOLID_QUEUE_IN_PUMA" => "true" }.freeze
  CABLE = <<~YAML
    development:
      adapter: async

    test:
      adapter: test

    production:
      # Comments, with and without an indent.
    # adapter: async
      adapter: %s
      channel_prefix: shop_production
  YAML
  LOST = ["config/cable.yml: with the adapter async, a broadcast reaches only the clients of its worker: use " \
          "solid_cable or redis"].freeze

  def test_rails_with_an_environment_of_its_own
    temp_file("bin/rails", "")
    production = { environment: ["production"] }
    assert_equal ["Rails runs in development, because RAILS_ENV is set: environment production has no effect on it"],
                 advice(production, { "RAILS_ENV" => "development" })
    assert_empty advice(production, { "RAILS_ENV" => "production" })
    assert_empty advice(production, { "RAILS_ENV" => "" })
  end

  def test_rails_env_without_rails
    assert_empty advice({ environment: ["production"] }, { "RAILS_ENV" => "development" })
  end

  def test_the_variable_that_starts_jobs_in_puma
    production = { environment: ["production"] }
    assert_empty advice(production, IN_PUMA)
    assert_equal ["no jobs of Solid Queue run with preload false: #{JOBS}"],
                 advice({ preload: ["false"], **production }, IN_PUMA)
    assert_equal ["no jobs of Solid Queue run without workers: #{JOBS}"], advice({}, IN_PUMA)
    assert_empty advice({}, { "SOLID_QUEUE_IN_PUMA" => " " })
  end

  def test_the_line_that_starts_jobs_in_a_file_that_is_not_read
    temp_file("config/puma.rb", "threads 3\n  plugin(:solid_queue)\n")
    assert_equal ["config/puma.rb:2: plugin solid_queue has no effect: #{SET}"], jobs({})
    assert_empty jobs({ max_workers: ["1"] }, IN_PUMA)
    ["# plugin :solid_queue\n", "plugin :solid_queues\n", "plugin :solid_queue if ENV['SOLID_QUEUE_IN_PUMA']\n",
     "if ENV['SOLID_QUEUE_IN_PUMA']\n  plugin :solid_queue\nend\n"].each do |text|
      temp_file("config/puma.rb", text)
      assert_empty jobs({}), text
    end
  end

  # Then the variable has an effect only if the file reads it.
  def test_a_file_that_is_read_says_whether_there_are_jobs
    path = temp_file("config/puma.rb", "plugin :solid_queue if ENV['SOLID_QUEUE_IN_PUMA'] || true\n")
    [{}, IN_PUMA].each do |env|
      assert_equal [[:jobs], true], wanted({ config_file: [path] }, env)
      assert_empty jobs({ config_file: [path] }, env)
      assert_equal 1, jobs({ config_file: [path], max_workers: ["0"] }, env).size
    end
    temp_file("config/puma.rb", "threads 3\n")
    assert_equal [[], false], wanted({ config_file: [path] }, IN_PUMA)
    path = temp_file("config/bontebok.rb", "threads 3\n")
    assert_equal [[:jobs], true], wanted({ config_file: [path] }, IN_PUMA)
    assert_equal [[], true], wanted({ config_file: [path] }, {})
  end

  def test_action_cable_with_the_adapter_async_and_several_workers
    temp_file("config/cable.yml", format(CABLE, "async"))
    production = { environment: ["production"], max_workers: ["2"] }
    assert_equal LOST, advice(production)
    assert_equal LOST, advice({ max_workers: ["2"] })
    [{ max_workers: ["1"] }, { max_workers: ["0"] }, { environment: ["test"] }, { environment: ["prod"] }]
      .each { |other| assert_empty advice(production.merge(other)), other.inspect }
    temp_file("config/cable.yml", format(CABLE, "redis"))
    assert_empty advice(production)
    assert_equal LOST, advice(production, { "RAILS_ENV" => "development" })
  end

  def test_files_that_cannot_be_read_as_text
    temp_file("config/cable.yml", "production:\n  adapter: \xff\n")
    temp_file("config/puma.rb", "\xff\nplugin 'solid_queue' if \xff\n")
    assert_equal ["config/puma.rb:2: plugin solid_queue has no effect: #{SET}"],
                 jobs({ environment: ["production"], max_workers: ["2"] })
    File.delete("#{temp_dir}/config/puma.rb", "#{temp_dir}/config/cable.yml")
    %w[puma.rb cable.yml].each { |name| FileUtils.mkdir("#{temp_dir}/config/#{name}") }
    assert_empty advice({ environment: ["production"], max_workers: ["2"] })
  end

  private

  # The companions, and whether the master loads the application.
  def wanted(values, env)
    Dir.chdir(temp_dir) do
      config = Bontebok::Config.new(values, env: env)
      [config.companions, config[:preload]]
    end
  end

  def jobs(values, env = {})
    advice(values, env).grep(/#{JOBS}/)
  end

  def advice(values, env = {})
    Dir.chdir(temp_dir) { Bontebok::Config.new(values, env: env).advice }
  end
end
