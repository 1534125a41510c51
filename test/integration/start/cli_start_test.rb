# frozen_string_literal: true

require "shellwords"
require "test_helper"
require_relative "../support/process_tree"

# Starts that fail. Tests the exit status and the message. The message has at most three lines (standard output and
# standard error together). No file and no process is left. The harness checks the processes.
class CLIStartTest < Support::TestCase
  include ProcessTree

  APP = "run ->(_) { [200, {}, []] }\n"

  def test_wrong_options_are_rejected
    { %w[--frobnicate] => "unknown option --frobnicate", %w[-x] => "unknown option -x", %w[-w] => "-w wants a value",
      %w[-w many] => "max_workers wants auto or a whole", %w[-t 0] => "threads wants a whole number from 1 to 64",
      %w[--max-target big] => "max_target wants a size", %w[--body-timeout soon] => "body_timeout wants a time",
      %w[--chunked-transfer=perhaps] => "chunked_transfer wants true or",
      %w[-l nowhere] => "listen wants HOST:PORT",
      %w[-E a/b] => "environment wants a name", %w[a.ru b.ru] => "only one rackup file" }.each do |args, message|
      assert_fails 2, message, args: args, rackup: APP
    end
  end

  def test_a_wrong_access_log_is_rejected
    { %w[--access-log-format %Z] => "access log: format: unknown directive %Z",
      %w[--access-log syslog:facility=x] => 'access log: syslog: unknown facility "x"' }.each do |args, message|
      assert_fails 2, message, args: ["--access-log", File.join(temp_dir, "log"), *args], rackup: APP
    end
    assert_fails 2, "access_log_format wants a line of", args: ["--access-log-format", "a\nb"], rackup: APP
  end

  def test_a_closed_standard_error_does_not_change_the_exit_status
    { %w[--frobnicate] => 2, ["/proc/none/a.ru"] => 1, %w[--version] => 0 }.each do |args, status|
      command = [RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, *args].shelljoin
      assert_equal status, start_process("sh", "-c", "exec #{command} >&- 2>&-").wait.exitstatus, args.join
    end
  end

  def test_arguments_that_are_no_text_are_rejected
    %w[C C.UTF-8].each do |locale|
      env = { "LC_ALL" => locale }
      assert_fails 1, "cannot read the rackup file", args: ["\xff.ru"], env: env
      assert_fails 2, "listen wants HOST:PORT", args: ["-l", "\xff"], env: env
      assert_fails 2, "unknown option", args: ["--\xff"], env: env
      assert_fails 2, "backlog wants", args: ["--backlog=\xff"], env: env
    end
  end

  def test_a_wrong_configuration_file_is_rejected
    path = temp_file("bontebok.rb", "threads 2\nthread 2\n")
    assert_fails 2, "#{path}:2: unknown option thread", args: ["-c", path], rackup: APP
    { "raise ''" => "RuntimeError", "exit 5" => "exit (SystemExit)", "raise Exception" => "Exception",
      "def again = again\nagain" => "stack level too deep" }.each do |text, message|
      temp_file("bontebok.rb", text)
      assert_fails 2, "#{path}:1: #{message}", args: ["-c", path], rackup: APP
    end
    path = "/proc/none/c.rb"
    assert_fails 1, "cannot read the configuration file #{path}", args: ["-c", path], rackup: APP
  end

  def test_a_missing_rackup_file_or_directory_fails_the_start
    assert_fails 1, "cannot read the rackup file #{temp_dir}/config.ru: No such file or directory"
    path = "/proc/none/a.ru"
    assert_fails 1, "cannot read the rackup file #{path}: No such file", args: [path]
    assert_fails 1, "cannot read the rackup file #{temp_dir}: Is a directory", args: [temp_dir]
    assert_fails 1, "cannot listen on unix:#{path}: its directory does not exist",
                 args: ["-l", "unix:#{path}"], rackup: APP
    assert_fails 1, "access_log #{path}: its directory does not exist",
                 args: ["--access-log", path], rackup: "raise 'the application was loaded'"
    assert_fails 1, "spool_dir #{path} cannot be written to: No such file or directory",
                 args: ["--spool-dir", path], rackup: APP
  end

  # Rack's temporary files go to TMPDIR, so the application gets the other directory as well.
  def test_a_server_whose_tmpdir_is_missing_starts
    server = start_bontebok(args: %w[-w 0], env: { "TMPDIR" => "/proc/none/tmp" },
                            rackup: "run ->(_) { [200, {}, [ENV.fetch('TMPDIR')]] }")
    assert_equal "/tmp", server.get.body
    assert_match(%r{ warn .* TMPDIR /proc/none/tmp cannot be written to: No such file or directory\. },
                 server.output.text)
  end

  def test_a_port_in_use_fails_the_start_before_the_application_loads
    taken = TCPServer.new("127.0.0.1", 0)
    address = "127.0.0.1:#{taken.local_address.ip_port}"
    %w[0 1].each do |workers|
      assert_fails 1, "cannot listen on #{address}: Address already in use", args: ["-w", workers, "-l", address],
                                                                             rackup: "File.write('loaded', '')\n#{APP}"
    end
    refute_path_exists File.join(temp_dir, "loaded")
  ensure
    taken&.close
  end

  # The first server listens only after its application is loaded.
  def test_a_port_is_in_use_while_its_server_loads
    address = "127.0.0.1:#{held_port}"
    make_gate
    first = start_bontebok(ready: false, listen: nil, args: ["-w", "1", "-l", address],
                           rackup: "warn :loading\nFile.read('gate')\n#{APP}")
    first.wait_for_output(/loading/)
    assert_fails 1, "cannot listen on #{address}: Address already in use", args: ["-w", "1", "-l", address]
    open_gate
    first.wait_until_ready
  end

  # A unix socket has no file before its server listens.
  def test_only_the_server_that_listens_first_on_a_unix_socket_starts
    address = "unix:#{temp_dir}/a.sock"
    make_gate
    both = Array.new(2) do
      start_bontebok(ready: false, listen: nil, args: ["-w", "1", "-l", address],
                     rackup: "File.read('gate')\n#{APP}")
    end
    open_gate_for(2)
    loser = eventually { both.find { |server| !server.running? } }
    (winner = (both - [loser]).first).wait_until_ready
    assert_failed loser, 1, "cannot listen on #{address}: Address already in use by process #{winner.pid}"
  end

  def test_a_unix_socket_in_use_fails_the_start_before_the_application_loads
    start_bontebok(args: ["-w", "1"], rackup: "File.write(\"loaded-\#{Process.ppid}\", '')\n#{APP}")
    assert_fails 1, "cannot listen on unix:#{temp_dir}/bontebok.sock: Address already in use", args: ["-w", "1"]
    assert_equal 1, Dir.glob(File.join(temp_dir, "loaded-*")).size
  end

  def test_an_application_that_raises_while_loading_fails_the_start
    [%w[-w 0], %w[-w 2], %w[-w 2 --preload false]].each do |args|
      server = failed_start(args: args, rackup: "\ndef setup = raise(IndexError, 'no such shelf')\nsetup\n")
      assert_equal 1, server.status.exitstatus, args.inspect
      assert_match(/ error \d+ .*config\.ru cannot be loaded: no such shelf \(IndexError\)$/, server.output.text)
      assert_match(%r{^  #{temp_dir}/config\.ru:2:in .*setup.*\n  #{temp_dir}/config\.ru:3:in }, server.output.text)
      refute_match(%r{lib/bontebok|listening}, server.output.text)
      assert_equal ["config.ru"], Dir.children(temp_dir)
    end
  end

  def test_an_application_that_ends_the_process_while_loading_fails_the_start
    { "exit 0" => "exit (SystemExit)", "abort 'enough'" => "enough (SystemExit)",
      "run 1 +" => "(SyntaxError)", "require 'no_such_file'" => "no_such_file (LoadError)" }.each do |rackup, text|
      server = failed_start(args: ["-w", "1"], rackup: rackup)
      assert_equal 1, server.status.exitstatus, rackup
      assert_includes server.output.text, text
    end
  end

  # The server runs from a copy that is like a checkout before bin/setup. Bundler is off, because Bundler would find the
  # extension of this checkout.
  def test_an_extension_that_is_not_built_fails_the_start
    %w[exe lib].each { |directory| FileUtils.cp_r(File.join(ROOT, directory), temp_dir) }
    FileUtils.rm_f(File.join(temp_dir, "lib/bontebok/bontebok.so"))
    rackup = rackup_file("config.ru", APP)
    bare = { "RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil, "RUBYLIB" => nil,
             "GEM_PATH" => Gem.path.join(File::PATH_SEPARATOR) }
    %w[0 1].each do |workers|
      server = start_process(RbConfig.ruby, "exe/bontebok", "-w", workers, rackup, chdir: temp_dir, env: bare)
      assert_failed server, 1, "cannot load the extension: it is not built\nbuild it: `bundle pristine bontebok` "
    end
  end

  def test_help_version_and_check_are_printed
    { "--help" => "Usage: bontebok", "--version" => /\Abontebok \d+\.\d+/,
      "--check" => /^listen +unix:.* command line$/ }.each do |flag, text|
      server = failed_start(args: [flag], rackup: APP)
      assert_equal [0, ""], [server.status.exitstatus, server.output.text(:stderr)]
      assert_operator text, :===, server.output.text(:stdout)[text]
    end
  end

  # Since Ruby 4, the library can be missing from the bundle.
  def test_the_command_needs_no_logger
    temp_file("lib/logger.rb", "raise LoadError, 'cannot load such file -- logger'")
    command = [RbConfig.ruby, "-I#{temp_dir}/lib", Support::BontebokProcess::EXECUTABLE]
    assert_equal 0, start_process(*command, "--version").wait.exitstatus
  end

  private

  def failed_start(**options)
    server = start_bontebok(ready: false, **options)
    server.wait
    server.output.wait_for_end
    server
  end

  def assert_fails(exit_status, message, **options)
    assert_failed failed_start(**options), exit_status, message
  end

  def assert_failed(server, exit_status, message)
    server.output.wait_for_end
    text = server.output.text
    assert_includes text, "bontebok: "
    assert_includes text, message
    assert_equal exit_status, server.wait.exitstatus, text
    assert_operator text.lines.size, :<=, 3, text
  end
end
