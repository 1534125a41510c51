# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/command_line"

# Tests how argv is parsed.
class CommandLineTest < Minitest::Test
  def test_a_value_may_stand_in_four_forms
    [%w[-w 4], %w[-w4], %w[--max-workers 4], %w[--max-workers=4], %w[--workers 4]].each do |argv|
      assert_equal({ max_workers: ["4"] }, read(*argv), argv.inspect)
    end
  end

  def test_listen_may_be_given_several_times
    assert_equal({ listen: ["80", "unix:/a"] }, read("-l", "80", "--listen=unix:/a"))
  end

  def test_a_value_may_look_like_an_option
    assert_equal({ server: ["-x"], max_workers: ["-1"] }, read("--server", "-x", "--max-workers=-1"))
    assert_equal({ server: ["a=b"] }, read("--server=a=b"))
    assert_equal({ server: [""] }, read("--server="))
  end

  def test_a_switch_is_true_or_false
    { %w[--reuse-port] => "true", %w[--no-reuse-port] => "false", %w[--reuse-port=no] => "no",
      %w[--reuse-port false] => "false" }.each do |argv, value|
      assert_equal({ reuse_port: [value] }, read(*argv), argv.inspect)
    end
  end

  def test_a_switch_does_not_take_the_rackup_file_as_its_value
    assert_equal({ preload: ["true"], rackup: ["app.ru"] }, read("--preload", "app.ru"))
  end

  def test_the_rackup_file_may_stand_anywhere
    assert_equal({ rackup: ["app.ru"], threads: ["2"] }, read("app.ru", "-t", "2"))
    assert_equal({ rackup: ["-app.ru"] }, read("--", "-app.ru"))
  end

  def test_some_options_choose_the_action
    assert_equal(%i[serve check help help version version],
                 [[], %w[--check], %w[--help], %w[-h], %w[--version], %w[-v]].map { |argv| command_line(*argv).action })
  end

  def test_help_accepts_the_name_of_an_option
    %w[--max-workers --workers -w max_workers max-workers workers max_workers].each do |name|
      assert_equal :max_workers, command_line("--help", name).topic.key, name
    end
    assert_equal :preload, command_line("-h", "--no-preload").topic.key
    assert_equal({ threads: ["2"] }, read("--help", "-w", "-t", "2"))
    [%w[--help], %w[-t 2 --help], %w[--help --check]].each do |argv|
      assert_equal [:help, nil], [command_line(*argv).action, command_line(*argv).topic], argv.inspect
    end
  end

  def test_help_rejects_the_name_of_an_unknown_option
    assert_refused "unknown option worker_timout. Did you mean worker_timeout?", "--help", "worker_timout"
    assert_refused "unknown option --workerz. Did you mean --workers?", "--help", "--workerz"
    assert_refused "unknown option --no-threads. Did you mean --threads?", "--help", "--no-threads"
    assert_refused "unknown option frobnicate. See bontebok --help.", "--help", "frobnicate"
    assert_refused "unknown option \uFFFD. See bontebok --help.", "--help", "\xff"
    assert_equal :listen, command_line("--help", "--port").topic.key
  end

  def test_no_arguments_give_no_values
    assert_equal({}, read)
  end

  def test_unknown_options_are_errors
    assert_refused "unknown option --workerz. Did you mean --workers?", "--workerz", "3"
    assert_refused "unknown option --frobnicate. See bontebok --help.", "--frobnicate=1"
    assert_refused "unknown option -x. See bontebok --help.", "-x1"
    assert_refused "unknown option --no-threads. Did you mean --threads?", "--no-threads"
  end

  # The most similar name would be --request-timeout for --redirect-stdout, and --listen for --silent.
  def test_flags_of_other_servers_are_answered_with_ours
    { "-o127.0.0.1" => "-l HOST:PORT", "--redirect-stdout" => "--stdout FILE", "--redirect-stderr" => "--log FILE",
      "--log-requests" => "--access-log -", "--silent" => "--log-level error", "--timeout=5" => "--request-timeout",
      "--deploy-timeout=5" => "--worker-boot-timeout", "--no-config" => "-c /dev/null", "--dir" => "--directory",
      "--env" => "--environment", "--group" => "--user USER:GROUP", "-Rapp.ru" => "--rackup FILE",
      "-Ilib" => "RUBYLIB=DIR bontebok", "--control-url" => "--control FILE", "--socket" => "-l unix:FILE",
      "--address" => "-l HOST:PORT", "--log-file" => "--log FILE", "--stats" => "bontebok status",
      "--max-requests" => "--max-request-per-child", "--max-threads" => "--threads", "--servers" => "--workers",
      "--chdir" => "--directory", "--require" => "RUBYOPT=-rLIBRARY bontebok", "-rx" => "RUBYOPT=-rLIBRARY bontebok",
      "--warn" => "RUBYOPT=-w bontebok", "--debug" => "RUBYOPT=-d bontebok",
      "-www" => "--public DIR", "-s" => "--log-level error" }.each do |argument, ours|
      flag = argument[/\A--[^=]+|\A-www|\A-./]
      assert_refused "unknown option #{flag}. Did you mean #{ours}?", argument
    end
  end

  def test_a_port_is_a_number
    assert_refused '-p wants a port from 0 to 65535, not "abc"', "-p", "abc"
    assert_refused '--port wants a port from 0 to 65535, not "65536"', "--port=65536"
    refute_includes command_line("-p", "", "--check").values, :listen
  end

  def test_daemon_options_are_errors
    [%w[-d], %w[-D], %w[--daemon], %w[--daemonize], %w[--daemonize=true], %w[-w 1 -D config.ru]].each do |argv|
      error = assert_raises(Bontebok::UsageError) { read(*argv) }
      assert_match(/\A-(d|D|-daemon|-daemonize): the server stays in the foreground.* systemd\z/, error.message)
      assert_includes error.message, "docs/DEPLOYMENT.md"
    end
  end

  def test_flags_that_mean_nothing_here_get_the_reason
    { "--control-token" => "only the server's user and root may connect to the socket of --control FILE",
      "--restart-cmd" => "`bontebok deploy` executes the command of the start again",
      "--idle-timeout" => "the server runs until it is stopped", "-N" => "the server adds no middleware",
      "--fork-worker" => "with --preload, all workers share the memory of the application",
      "--prune-bundler" => "`bontebok deploy` loads the new gems",
      "--no-redirect-append" => "the server always appends to --stdout FILE and --log FILE",
      "--bind-to-activated-sockets" => "the server always uses the sockets that systemd passes to it",
      "--plugin" => "plugins of puma are not loaded; instead of tmp_restart, set --restart-file " \
                    "tmp/restart.txt" }.each do |flag, reason|
      assert_refused "#{flag}: #{reason}", flag, "1"
    end
  end

  def test_flags_of_puma_mean_what_they_mean_there
    { %w[-C puma.rb] => %w[-c puma.rb], %w[-C -] => %w[-c /dev/null], %w[-e production] => %w[-E production],
      %w[-p 3000] => %w[-l *:3000], %w[-p3000] => %w[-l *:3000], %w[--port=3000] => %w[-l *:3000],
      %w[-P a.pid] => %w[--pidfile a.pid], %w[-b a:0 -b tcp://a:1] => %w[-l a:0 -l a:1],
      %w[-q] => ["--access-log", ""], %w[-S a.state] => [], %w[-V] => %w[-v] }.each do |puma, ours|
      assert_equal read(*ours), read(*puma), puma.inspect
    end
    assert_equal ["-S has no effect: `bontebok status` shows the state of the server"],
                 command_line("-S", "a.state").notes
  end

  def test_missing_and_superfluous_values_are_errors
    assert_refused "-w wants a value: -w N|auto", "-w"
    assert_refused "--listen wants a value: --listen ADDR", "--listen"
    assert_refused "--no-preload takes no value", "--no-preload=true"
    assert_refused 'only one rackup file can be served, not "b.ru" as well', "a.ru", "b.ru"
  end

  def test_a_start_gets_all_faults
    error = assert_raises(Bontebok::UsageError) { command_line("--frobnicate", "-x") }
    assert_equal ["unknown option --frobnicate. See bontebok --help.", "unknown option -x. See bontebok --help."],
                 error.messages
  end

  # The value of an unknown flag is not the rackup file.
  def test_a_check_gets_all_faults
    line = command_line("--frobnicate", "5", "-Z", "--check", "--gone=1", "b.ru", "-w")
    faults = line.faults.map { |fault| fault.message[/\A[^.:]+/] }
    assert_equal(["unknown option --frobnicate", "unknown option -Z", "unknown option --gone", "-w wants a value"],
                 faults)
    assert_equal ["b.ru"], line.values[:rackup]
    assert_equal [__FILE__], command_line("--frobnicate", __FILE__, "--check").values[:rackup]
  end

  # Arguments are bytes. A file name may have bytes that are invalid in the locale's encoding (US-ASCII if LANG=C).
  def test_arguments_may_have_bytes_that_are_invalid_in_the_locale
    assert_equal({ rackup: ["Käse.ru"] }, read("Käse.ru".dup.force_encoding(Encoding::US_ASCII)))
    assert_equal({ rackup: ["\xff.ru"], server: ["\xff"] }, read("\xff.ru", "--server=\xff"))
    assert_refused "unknown option --\uFFFD. See bontebok --help.", "--\xff=\xfe"
    assert_refused "unknown option -\uFFFD. See bontebok --help.", "-\xff"
  end

  # A deploy needs these paths if the directory has gone. The other paths begin in the server's working directory.
  def test_paths_that_begin_in_the_directory_of_the_start
    { %w[-w 1 -c a.rb x.ru] => { 3 => "a.rb" }, %w[-ca.rb] => { 0 => "a.rb" }, %w[--config=a.rb] => { 0 => "a.rb" },
      %w[-c /a.rb] => {}, %w[-C -] => {}, %w[-c a.rb -c b.rb --tag t] => { 3 => "b.rb" },
      %w[-c a.rb --directory d] => { 3 => "d" }, %w[-c a.rb --directory /d] => {}, %w[--log l x.ru] => {} }
      .each do |argv, paths|
        assert_equal paths, command_line(*argv).paths_at_start, argv.inspect
      end
  end

  private

  def command_line(*argv)
    Bontebok::CommandLine.new(argv)
  end

  def read(*argv)
    command_line(*argv).values
  end

  def assert_refused(message, *argv)
    error = assert_raises(Bontebok::UsageError) { command_line(*argv) }
    assert_equal [message, 2], [error.message, error.exit_status]
  end
end
