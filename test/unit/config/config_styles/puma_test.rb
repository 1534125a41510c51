# frozen_string_literal: true

require "test_helper"
require_relative "../../support/config_style_case"

# Tests of puma's directives.
class ConfigStylesPumaTest < Support::TestCase
  include ConfigStyleCase

  STYLE = Bontebok::ConfigStyles::Puma
  Worker = Bontebok::Hooks::Worker

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
    assert_equal "3", values("threads '3'")[:threads]
    assert_fault ":1: threads wants the smaller number first", "threads 5, 1"
  end

  # WorkerBootTimeout includes loading the application in a deploy.
  def test_the_boot_timeout_is_not_shorter_than_the_default
    { "15" => 60, "90" => 90, "0" => 0, "'15s'" => "15s" }.each do |written, value|
      assert_equal({ worker_boot_timeout: value }, values("worker_boot_timeout #{written}"))
    end
  end

  def test_preload_app_sets_preload
    assert_equal [{ preload: true }, { preload: false }], [values("preload_app!"), values("preload_app! false")]
  end

  def test_port_and_bind_add_addresses
    { "port 3000" => "*:3000", "port '3000'" => "*:3000",
      "port 3000, '[::1]'" => "[::1]:3000", "port 3000, '::1'" => "[::1]:3000", "port 1, :a" => "a:1",
      "bind 'tcp://0.0.0.0:80'" => "0.0.0.0:80", "bind 'tcp://[::]:80?low_latency=true'" => "[::]:80",
      "bind 'unix:///run/a.sock'" => "unix:/run/a.sock", "bind 'unix://tmp/a.sock'" => "unix:tmp/a.sock",
      "bind 'unix://@name'" => "unix:@name",
      "set_default_host '127.0.0.1'\nport 1" => "127.0.0.1:1" }.each do |text, address|
      assert_equal [address], values(text)[:listen], text
    end
    assert_equal 512, values("bind 'tcp://a:1?backlog=512'\nbind 'tcp://a:2?backlog=16'")[:backlog]
    assert_equal 2, values("port 1\nbind 'tcp://a:2?low_latency'")[:listen].size
    assert_equal ["*:2"], values("port 1\nclear_binds!\nport 2")[:listen]
  end

  def test_umask_and_mode_of_bind_set_the_socket_mode
    { "umask=0117" => 0o660, "umask=022" => 0o755, "mode=0660" => 0o660, "mode=600&backlog=5" => 0o600 }
      .each { |text, mode| assert_equal mode, values("bind 'unix:///a?#{text}'")[:socket_mode], text }
    assert_equal 0o640, values("bind 'unix:///a?mode=0660'\nbind 'unix:///b?umask=0137'")[:socket_mode]
    assert_fault ":1: umask of bind wants a number like 0117", "bind 'unix:///a?umask=none'"
    assert_fault ":1: mode of bind wants a number like 0117", "bind 'unix:///a?mode=0888'"
  end

  def test_unknown_forms_of_bind_are_errors
    assert_fault ":1: bind wants tcp://HOST:PORT or unix://PATH, not ssl://a:1?key=k", "bind 'ssl://a:1?key=k'"
    assert_unknown "mask of bind", "bind 'unix:///a?mask=0'"
  end

  def test_directory_changes_the_working_directory_and_load_reads_a_file
    before = Dir.pwd
    temp_file("sub/more.rb", "workers 7\n")
    assert_equal 7, values("load '#{temp_dir}/sub/more.rb'\n")[:max_workers]
    temp_file("sub/more.rb", "\nnonsense\n")
    error = assert_raises(Bontebok::UsageError) { read("load '#{temp_dir}/sub/more.rb'") }
    assert_equal "#{temp_dir}/sub/more.rb:2: unknown option nonsense", error.message[/\A[^;]*/]
    assert_equal before, values("directory '#{temp_dir}/sub'\npidfile Dir.pwd\n")[:pidfile]
    assert_equal File.realpath("#{temp_dir}/sub"), Dir.pwd
    assert_fault ":1: cannot change to the directory /none: No such file or directory", "directory '/none'", 1
  ensure
    Dir.chdir(before)
  end

  # Most hooks have a new name and an old name. A worker's index counts from 0.
  def test_hooks_of_puma_are_known
    { before_fork: [0, %i[before_worker_fork on_worker_fork]],
      after_worker_fork: [0, %i[after_worker_fork after_worker_boot]],
      after_fork: [0, %i[before_worker_boot on_worker_boot]],
      before_worker_exit: [0, %i[before_worker_shutdown on_worker_shutdown]],
      before_thread_start: [nil, %i[before_thread_start on_thread_start]],
      before_thread_exit: [nil, %i[before_thread_exit on_thread_exit]],
      on_booted: [nil, %i[after_booted on_booted]], after_stopped: [nil, %i[after_stopped on_stopped]],
      out_of_band: [nil, %i[out_of_band]] }
      .each do |name, (told, directives)|
        directives.each do |directive|
          hooks = read("#{directive} { |index, key = 0| [index] }").hooks
          assert_equal [told], hooks.run(name, Worker.new(1, 9)), directive
        end
      end
  end

  def test_hooks_with_the_same_key_share_data
    hooks = read(<<~RUBY).hooks
      before_worker_boot(:key) { |index, data| data[index] = :begun }
      before_worker_boot(:other) { |index, data| data[index] = :other }
      on_worker_shutdown("key") { |index, data| data[index] }
    RUBY
    hooks.run(:after_fork, Worker.new(1, 9))
    assert_equal :begun, hooks.run(:before_worker_exit, Worker.new(1, 9))
  end

  def test_after_worker_shutdown_gets_a_handle_of_the_worker
    hooks = read("after_worker_shutdown { |worker| [worker.index, worker.pid, worker.process_status] }").hooks
    assert_equal [0, 9, :status], hooks.run(:after_worker_exit, Worker.new(1, 9), :status)
  end

  def test_before_fork_runs_once
    hooks = read("count = 0\nbefore_fork { server count += 1 }\ndef server(count) = $stdout.puts(count)\n").hooks
    assert_output("1\n") { 2.times { hooks.run(:before_fork, Worker.new(1)) } }
  end

  def test_lowlevel_error_handler_gets_errors
    { "|error, env, status| [status, env, [error]]" => [500, :env, [:error]], "|error| error" => :error }
      .each do |block, result|
        assert_equal result, read("lowlevel_error_handler { #{block} }").hooks.run(:on_error, :error, :env)
      end
    hooks = read("lowlevel_error_handler(->(error) { error })").hooks
    assert_equal :error, hooks.run(:on_error, :error, :env)
    hooks = read("lowlevel_error_handler { |_error, _env, status| status }").hooks
    assert_equal 504, hooks.run(:on_error, Bontebok::RequestTimeout.new, :env)
    assert_fault ":1: lowlevel_error_handler wants a block", "lowlevel_error_handler"
  end

  def test_tmp_restart_sets_the_restart_file
    assert_equal "tmp/restart.txt", values("plugin :tmp_restart")[:restart_file]
  end

  def test_directives_without_an_effect_are_accepted
    assert_empty values("queue_requests true\nsilence_single_worker_warning\n" \
                        "on_restart { raise }\nbefore_refork { raise }\nprune_bundler\n" \
                        "nakayoshi_fork\nrestart_command 'bundle exec puma'\n")
  end

  def test_the_advice_for_a_directive_is_a_warning
    assert_advised "plugin solid_queue", "plugin :solid_queue", "run `bin/jobs` beside the server"
    assert_advised "plugin yabeda", "plugin :yabeda", "it changes puma itself"
    assert_advised "state_path", "state_path 'tmp/state'", "`bontebok status` shows the state of the server"
    assert_advised "activate_control_app", "activate_control_app 'unix:///tmp/a', { no_token: true }",
                   "`bontebok deploy`, `stop` and `status` control the server"
    assert_advised "set_remote_address", "set_remote_address header: 'X-Real-IP'",
                   "REMOTE_ADDR is the address of the proxy, and X-Forwarded-For has the client's"
    assert_empty read("clear_binds!\nfork_worker false").warnings
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

  def test_the_file_can_read_the_options_that_it_has_set
    text = "workers 3\nthreads 1, 4\ntag [@config.options[:workers], get(:max_threads), get(:gone, 9)].join(' ')"
    assert_equal "3 4 9", values(text)[:tag]
  end

  def test_an_error_in_a_hook_names_the_hook_as_the_file_does
    hooks = read("on_worker_boot { raise 'sorry' }").hooks
    error = assert_raises(Bontebok::Hooks::Failed) { hooks.run(:after_fork, Worker.new(1, 2)) }
    assert_equal "the hook on_worker_boot failed", error.message
  end

  def test_unknown_directives_are_errors
    assert_fault ":1: ssl_bind: TLS is left to a proxy", "ssl_bind '0.0.0.0', 9292, {}"
    assert_unknown "wokers", "wokers 2", hint: "did you mean workers?"
    assert_unknown "tcp_mode", "tcp_mode"
    assert_fault ":1: on_worker_boot wants a block", "on_worker_boot"
  end
end
