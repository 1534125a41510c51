# frozen_string_literal: true

require "test_helper"
require_relative "../../support/config_style_case"

# Tests of the values that a file for puma reads and sets by puma's names.
class ConfigStylesPumaOptionsTest < Support::TestCase
  include ConfigStyleCase

  STYLE = Bontebok::ConfigStyles.of("puma")

  def test_the_file_can_read_the_options_that_it_has_set
    text = "workers 3\nthreads 1, 4\ntag [@config.options[:workers], get(:max_threads), get(:gone, 9)].join(' ')"
    assert_equal "3 4 9", values(text)[:tag]
    assert_equal "[3, nil, true, 7]", values(<<~RUBY)[:tag]
      @options[:workers].positive?
      workers 3
      tag [@options[:workers], @options[:gone], @options.key?(:workers), @options.fetch(:gone, 7)].inspect
    RUBY
  end

  def test_the_number_of_workers_that_the_file_reads_is_an_integer
    { ["", nil] => 0, ["workers '2'", nil] => 2, ["workers nil", "4"] => 4, ["", " 4 "] => 4, ["", ""] => 0,
      ["workers 1", "4"] => 1, ["workers :auto", nil] => Bontebok::Cpus.new.count }.each do |(text, variable), count|
      seen = with_variable(variable, "#{text}\ntag [@config.options[:workers], get(:workers)].inspect")
      assert_equal "[#{count}, #{count}]", seen[:tag], text
    end
    assert_equal 3, with_variable("2", "single { threads 7 }\ncluster { threads 3 }\n")[:threads]
  end

  # Docuseal's file has no other way to say that there is no pid file.
  def test_an_assignment_calls_the_directive
    assert_empty values("pidfile 'a'\n@options[:pidfile] = false")
    assert_empty values("pidfile 'a'\n@options[:pidfile] = nil")
    assert_equal({ max_workers: 2, threads: 7, preload: false, pidfile: "b", graceful_timeout: 9 }, values(<<~RUBY))
      @options[:workers] = "2"
      @options[:max_threads] = 7
      @options[:preload_app] = false
      @options["pidfile".to_sym] = "b"
      @options[:worker_shutdown_timeout] = 9
    RUBY
    assert_advised "@options[:binds]", "@options[:binds] = ['tcp://127.0.0.1:1']", "write the directive"
  end

  private

  # The options of a file that is read while WEB_CONCURRENCY has this value.
  def with_variable(value, text)
    Bontebok::ConfigFile.new(temp_file("config.rb", text), style: STYLE, env: { "WEB_CONCURRENCY" => value }.compact)
                        .entries.transform_values(&:value)
  end
end
