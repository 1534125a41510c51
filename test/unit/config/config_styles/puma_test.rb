# frozen_string_literal: true

require "test_helper"
require_relative "../../support/config_style_case"

# Tests of puma's directives.
class ConfigStylesPumaTest < Support::TestCase
  include ConfigStyleCase

  STYLE = Bontebok::ConfigStyles.of("puma")

  def test_options_of_puma_are_known
    assert_equal({ max_workers: 2, environment: "production", rackup: "a.ru", graceful_timeout: 9, worker_timeout: 90,
                   keepalive_timeout: 20, max_body: 100, max_keepalive_requests: 7, header_timeout: 5,
                   body_timeout: 5, pidfile: "a", tag: "shop", stdout: "b", log: "c" }, values(<<~RUBY))
                     workers 2
                     environment "production"
                     rackup "a.ru"
                     worker_shutdown_timeout 9
                     worker_timeout 90
                     persistent_timeout 20
                     http_content_length_limit 100
                     max_keep_alive 7
                     first_data_timeout 5
                     pidfile "a"
                     tag "shop"
                     stdout_redirect "b", "c", true
                   RUBY
    assert_equal({ max_keepalive_requests: 0, keepalive_timeout: 0 },
                 values("max_fast_inline Float::INFINITY\nenable_keep_alives false\npersistent_timeout 9\n"))
    assert_equal({ keepalive_timeout: 0 }, values("persistent_timeout 9\nenable_keep_alives false\n"))
  end

  def test_log_requests_and_quiet_set_the_access_log
    on = { access_log: "-", access_log_format: "common" }
    { "log_requests" => on, "quiet false" => on, "log_requests false" => { access_log: "" },
      "quiet" => { access_log: "" } }.each { |text, expected| assert_equal expected, values(text), text }
  end

  def test_default_rackup_is_config_ru
    assert_equal "config.ru", values("rackup DefaultRackup if defined?(DefaultRackup)")[:rackup]
  end

  def test_the_larger_number_of_threads_counts
    assert_equal 5, values("threads 0, 5")[:threads]
    assert_equal 3, values("threads '3'")[:threads]
    assert_fault ":1: threads wants the smaller number first", "threads 5, 1"
  end

  # puma calls Integer().
  def test_a_number_may_be_a_float
    assert_equal "5, 3", values("threads 1.0, 5.0\nworkers 1.5 * 2").values.join(", ")
    assert_equal [:auto, "many"], [values("workers :auto"), values("workers 'many'")].flat_map(&:values)
  end

  # puma has no longest time, and a tag may have any characters.
  def test_long_times_and_any_tag_are_accepted
    year = 365 * 24 * 3600
    assert_equal({ worker_timeout: year, worker_boot_timeout: year, graceful_timeout: year, keepalive_timeout: year,
                   header_timeout: year, body_timeout: year, tag: "?berapp" }, values(<<~RUBY))
                     worker_timeout 10**9
                     worker_boot_timeout 10**9
                     worker_shutdown_timeout 10**9
                     persistent_timeout Float::INFINITY
                     first_data_timeout 10**9
                     tag "Überapp"
                   RUBY
    assert_equal ["x" * 63, "? ??"], [values("tag 'x' * 64"), values('tag "\n \xff\u1234"')].flat_map(&:values)
  end

  # worker_boot_timeout includes loading the application in a deploy.
  def test_the_boot_timeout_is_not_shorter_than_the_default
    { "15" => 60, "90" => 90, "0" => 0, "'15s'" => "15s" }.each do |written, value|
      assert_equal({ worker_boot_timeout: value }, values("worker_boot_timeout #{written}"))
    end
  end

  def test_preload_app_sets_preload
    assert_equal [{ preload: true }, { preload: false }], [values("preload_app!"), values("preload_app! false")]
  end

  def test_directory_changes_the_working_directory_and_load_reads_a_file
    before = Dir.pwd
    temp_file("sub/more.rb", "workers 7\n")
    assert_equal 7, values("load '#{temp_dir}/sub/more.rb'\n")[:max_workers]
    temp_file("sub/more.rb", "\nnonsense\n")
    error = assert_raises(Bontebok::UsageError) { read("load '#{temp_dir}/sub/more.rb'") }
    assert_equal "#{temp_dir}/sub/more.rb:2: unknown option nonsense", error.message[/\A[^;]*/]
    assert_equal 8, values("_load_from '#{temp_file('sub/alias.rb', 'workers 8')}'")[:max_workers]
    assert_equal before, values("directory '#{temp_dir}/sub'\npidfile Dir.pwd\n")[:pidfile]
    assert_equal File.realpath("#{temp_dir}/sub"), Dir.pwd
    assert_fault ":1: cannot change to the directory /proc/none: No such file or directory", "directory '/proc/none'", 1
  ensure
    Dir.chdir(before)
  end

  def test_early_hints_needs_no_argument
    assert_equal [{ early_hints: true }, { early_hints: false }], [values("early_hints"), values("early_hints false")]
  end

  def test_directives_without_an_effect_are_accepted
    assert_empty values("queue_requests true\nsilence_single_worker_warning\n" \
                        "on_restart { raise }\nbefore_refork { raise }\nprune_bundler\n" \
                        "nakayoshi_fork\nrestart_command 'bundle exec puma'\n")
  end

  def test_the_advice_for_a_directive_is_a_warning
    assert_advised "state_path", "state_path 'tmp/state'", "`bontebok status` shows the state of the server"
    assert_advised "activate_control_app", "activate_control_app 'unix:///tmp/a', { no_token: true }",
                   "`bontebok deploy`, `stop` and `status` control the server"
    assert_advised "set_remote_address", "set_remote_address header: 'X-Real-IP'",
                   "REMOTE_ADDR is the address of the proxy, and X-Forwarded-For has the client's"
    assert_advised "fork_worker", "fork_worker 1000",
                   "with preload_app!, all workers share the memory of the application"
    assert_advised "force_shutdown_after", "force_shutdown_after 20",
                   "set worker_shutdown_timeout, which limits the time for open requests"
    assert_empty read("clear_binds!\nfork_worker false").warnings
  end

  # Without this advice, the next request would see the values of the former request.
  def test_the_advice_for_thread_locals_says_that_values_stay
    %w[fiber_per_request clean_thread_locals].each do |directive|
      assert_advised directive, directive, "values in Thread.current stay for the next request: set them at the " \
                                           "beginning of each request, or use ActiveSupport::CurrentAttributes"
    end
  end

  def test_blocks_for_one_mode_run_in_this_mode
    text = "single { threads 7 }\ncluster { threads 3 }\n"
    assert_equal 3, values("#{text}workers 2")[:threads]
    assert_equal 7, values("#{text}workers 0")[:threads]
    path = temp_file("config.rb", text)
    written = Bontebok::ConfigFile.new(path, style: STYLE, workers: "4")
    assert_equal 3, written.entries[:threads].value
    assert_fault ":1: unknown option wokers (did you mean workers?)", "cluster { wokers 1 }\nworkers 2"
  end

  # GitLab's file compares the version without a guard.
  def test_the_version_of_puma_is_known
    assert_equal "true", values("tag Gem::Version.new(Puma::Const::PUMA_VERSION).canonical_segments.first >= 6")[:tag]
    assert_fault ":1: uninitialized constant Puma::MiniSSL (NameError)", "Puma::MiniSSL"
    assert_fault ":1: uninitialized constant Puma::Const::NONE (NameError)", "Puma::Const::NONE"
  end

  # The values are puma's, whatever the defaults are here.
  def test_the_file_can_read_the_defaults_of_puma
    assert_equal({ rackup: "config.ru", threads: 5, keepalive_timeout: 65 }, values(<<~RUBY))
      rackup(Puma::Configuration::DEFAULTS[:rackup])
      threads(*Puma::Configuration::DEFAULTS.values_at(:min_threads, :max_threads))
      persistent_timeout Puma::Configuration::DEFAULTS.fetch(:persistent_timeout)
    RUBY
    assert_fault ":1: the default of reaping_time is not available: write the value (KeyError)",
                 "Puma::Configuration::DEFAULTS[:reaping_time]"
  end

  def test_unknown_directives_are_errors
    assert_fault ":1: ssl_bind: TLS is left to a proxy", "ssl_bind '0.0.0.0', 9292, {}"
    assert_unknown "wokers", "wokers 2", hint: "did you mean workers?"
    assert_unknown "tcp_mode", "tcp_mode"
    assert_fault ":1: on_worker_boot wants a block", "on_worker_boot"
  end
end
