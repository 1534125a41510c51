# frozen_string_literal: true

require "open3"
require "test_helper"
require_relative "../../support/config_style_case"

# Tests of unicorn's directives.
class ConfigStylesUnicornTest < Support::TestCase
  include ConfigStyleCase

  STYLE = Bontebok::ConfigStyles.of("unicorn")
  Worker = Bontebok::Hooks::Worker

  def test_options_of_unicorn_are_known
    assert_equal({ max_workers: 4, request_timeout: 30, preload: true, spool_threshold: 2048, pidfile: "a", log: "b",
                   stdout: "c", check_client_connection: true }, values(<<~RUBY))
                     worker_processes 4
                     timeout 30
                     preload_app true
                     client_body_buffer_size 2048
                     pid "a"
                     stderr_path "b"
                     stdout_path "c"
                     check_client_connection true
                   RUBY
    assert_equal "#{@path}:2", read("\ntimeout 1").entries[:request_timeout].place
  end

  # Files have `ENV["UNICORN_PROCESSES"].to_i || 8`. 0 would be one process, which nobody watches.
  def test_there_is_at_least_one_worker
    ["0", "'0'", "ENV['NOT_SET'].to_i || 8"].each do |count|
      assert_fault ":1: worker_processes wants at least 1, as in unicorn", "worker_processes #{count}"
    end
    assert_equal [{ max_workers: 1 }, {}], [values("worker_processes 1"), values("worker_processes nil")]
  end

  def test_listen_accepts_every_form_of_an_address
    { "8080" => "0.0.0.0:8080", "'*:80'" => "0.0.0.0:80", "':80'" => "0.0.0.0:80", "'a.example:80'" => "a.example:80",
      "'127.0.0.1'" => "127.0.0.1:80", "'[::1]'" => "[::1]:80", "'[::1]:8080'" => "[::1]:8080",
      "'unix:tmp/a.sock'" => "#{Dir.pwd}/tmp/a.sock", "'/run/a.sock'" => "/run/a.sock",
      "'~/a.sock'" => "#{Dir.home}/a.sock",
      "'nonsense'" => "nonsense" }.each do |written, spelled|
      assert_equal [spelled], values("listen #{written}")[:listen].map(&:to_s), written
    end
    assert_equal ["0.0.0.0:1", "0.0.0.0:2"], values("listen 1\nlisten '2'")[:listen]
  end

  def test_the_same_address_twice_is_one_listener
    assert_equal ["0.0.0.0:8080", "/a"],
                 values("listen 8080\nlisten '0.0.0.0:8080'\nlisten '/a'\nlisten '*:8080'\nlisten 'unix:/a'")[:listen]
    assert_empty values("listen nil")
  end

  def test_options_of_listen_are_known
    assert_equal({ backlog: 64, reuse_port: true, listen: %w[0.0.0.0:80 0.0.0.0:81] }, values(<<~RUBY))
      listen 80, :backlog => 64, :tcp_nopush => true, tcp_nodelay: false, tries: 5, delay: 0.5, sndbuf: 1, rcvbuf: 1
      listen "81", backlog: 16, reuseport: true, tcp_defer_accept: 1, accept_filter: "httpready", ipv6only: true
    RUBY
    file = read("listen 80, kgio: true, :tries => 1")
    assert_equal ["#{@path}:1: kgio of listen has no effect: the server does not know this parameter"], file.warnings
  end

  def test_umask_of_listen_sets_the_socket_mode
    assert_equal 0o750, values("listen '/a', umask: 0027\nlisten '/b', umask: 0")[:socket_mode]
  end

  def test_user_sets_user_and_group
    assert_equal({ user: "app:www" }, values("user 'app', 'www'"))
    assert_equal({ user: "app" }, values("user 'app'"))
    assert_empty values("user nil")
    assert_equal({ user: "app" }, values("user 'app'"))
  end

  def test_hooks_get_the_logger
    file = read("require 'logger'\nlogger(mine = Logger.new(nil))\nafter_fork { |server, _| server.logger == mine }")
    assert file.hooks.run(:after_fork, Worker.new(1, 2))
    assert_fault ":1: logger has no debug, info, warn, error, fatal", "logger Object.new"
  end

  def test_the_file_can_change_the_default_logger
    ["Configurator", "Unicorn::Configurator"].each do |constant|
      hooks = read("#{constant}::DEFAULTS[:logger].formatter = -> (*, text) { text }\n" \
                   "after_fork { |server, _| server.logger.formatter.call(1, 2) }").hooks
      assert_equal 2, hooks.run(:after_fork, Worker.new(1, 2))
    end
    assert_fault ":1: uninitialized constant Unicorn::Const (NameError)", "Unicorn::Const"
    assert_fault ":1: uninitialized constant Unicorn::HttpServer::NONE (NameError)", "Unicorn::HttpServer::NONE"
  end

  def test_defaults_of_env_get_advice
    { "rack.url_scheme" => "the proxy must send X-Forwarded-Proto", "a" => "a middleware can set it" }
      .each do |name, advice|
        assert_advised "HttpRequest::DEFAULTS[#{name.inspect}]", "HttpRequest::DEFAULTS[#{name.inspect}] = 'x'", advice
      end
    assert_equal 1, read("Unicorn::HttpRequest::DEFAULTS['a'] = 1").warnings.size
  end

  def test_the_working_directory_is_entered_at_once
    before = Dir.pwd
    temp_file("sub/seen", "7")
    assert_equal 7, values("working_directory '#{temp_dir}/sub'\nworker_processes File.read('seen').to_i")[:max_workers]
  ensure
    Dir.chdir(before)
  end

  def test_hooks_get_the_server_and_the_worker
    hooks = read(<<~RUBY).hooks
      worker_processes 3
      before_fork { |server, worker| [:lost] }
      before_fork { |server, worker| [server.worker_processes, worker.nr, worker.pid] }
      after_fork { |server, worker| [server.logger.class, server.pid, *server.config.values_at(:pid, :timeout)] }
      pid "/run/a.pid"
      timeout 20
      after_worker_ready lambda { |server, worker| worker.nr }
      after_worker_exit { |server, worker, status| [worker.nr, worker.pid, status] }
      before_exec { |server| raise "never" }
    RUBY
    assert_equal [3, 0, nil], hooks.run(:before_fork, Worker.new(1))
    assert_equal [Logger, "/run/a.pid", "/run/a.pid", 20], hooks.run(:after_fork, Worker.new(1, 9))
    assert_equal 1, hooks.run(:after_worker_ready, Worker.new(2, 9))
    assert_equal [2, 9, :status], hooks.run(:after_worker_exit, Worker.new(3, 9), :status)
  end

  def test_nil_is_no_hook
    hooks = read("before_fork { raise }\nbefore_fork nil\nafter_fork").hooks
    %i[before_fork after_fork].each { |name| assert_nil hooks.run(name, Worker.new(1)) }
  end

  # Since Ruby 4, the library can be missing from the bundle.
  def test_hooks_have_a_logger_without_the_library_logger
    path = temp_file("config.rb", "logger nil if defined?(Logger)\n" \
                                  "before_fork { |server, _| server.logger.info('a') }\n" \
                                  "after_fork { |server, _| server.logger.error { 5 } }")
    temp_file("lib/logger.rb", "raise LoadError, 'cannot load such file -- logger'")
    script = "require 'bontebok/config/config_file'\nrequire 'bontebok/config/config_styles'\n" \
             "hooks = Bontebok::ConfigFile.new(ARGV[0], style: Bontebok::ConfigStyles.of('unicorn')).hooks\n" \
             "%i[before_fork after_fork].each { |name| hooks.run(name, #{Worker}.new(1)) }"
    output, = Open3.capture2e(RbConfig.ruby, "-I#{temp_dir}/lib", "-Ilib", "-e", script, path)
    assert_equal "INFO -- a\nERROR -- 5\n", output
  end

  def test_directives_without_an_effect_are_accepted
    assert_empty values("rewindable_input true\ndefault_middleware false\n" \
                        "worker_exec false\n")
  end

  def test_the_advice_for_a_directive_is_a_warning
    assert_advised "worker_exec", "worker_exec true", "workers are forked, and none executes a program"
  end

  # Files use libraries that unicorn has loaded, and unicorn's own command.
  def test_the_file_finds_what_unicorn_has_loaded
    assert_empty values("FileUtils\nEtc\nTempfile\nLogger.new($stdout)\n")
    assert_empty values("Unicorn::HttpServer::START_CTX[0] = 'unicorn'\n")
  end

  def test_listen_in_a_hook_has_no_effect
    text = "logger Logger.new($stdout)\nafter_fork { |server, _| server.listen('127.0.0.1:9', tries: -1) }"
    out, = capture_io { read(text).hooks.run(:after_fork, Worker.new(1, 2)) }
    assert_includes out, "server.listen 127.0.0.1:9 has no effect: all workers have the same listeners"
  end

  # A worker that stays root is worse than a worker that does not start.
  def test_the_user_of_a_worker_in_a_hook_is_an_error
    hooks = read("after_fork { |_, worker| worker.user('app') }").hooks
    error = assert_raises(Bontebok::Hooks::Failed) { hooks.run(:after_fork, Worker.new(1, 2)) }
    assert_equal "worker.user is not available: use the directive `user`", error.cause.message
  end

  def test_unknown_directives_are_errors
    assert_unknown "worker_proceses", "worker_proceses 4", hint: "did you mean worker_processes?"
    assert_unknown "Rainbows!", "Rainbows! do\nend"
    assert_fault ":1: before_fork wants a block", "before_fork 1"
  end
end
