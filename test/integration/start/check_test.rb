# frozen_string_literal: true

require "test_helper"
require "bontebok/config/option_table"

# `bontebok --check` makes the checks of a start.
class CheckTest < Support::TestCase
  APP = "run ->(_) { [200, {}, []] }\n"

  def test_each_value_has_its_source
    temp_file("c.rb", "threads 3\n")
    rows = check("-w", "2", "-c", "c.rb").lines.map { |line| line.chomp.split(/ {2,}/) }
    assert_equal Bontebok::OptionTable::ALL.map(&:name), rows.map(&:first)
    [["max_workers", "2", "command line"], ["threads", "3", "c.rb:1"], %w[max_target 16K default]].each do |row|
      assert_includes rows, row
    end
  end

  def test_style_hooks_and_advice_are_shown
    temp_file("puma.rb", "before_worker_boot { raise }\nlowlevel_error_handler { 1 }\nstate_path 'a'\n")
    text = check("-c", "puma.rb")
    assert_match(/^config_style +puma +file name$/, text)
    assert_match(/^threads +5 +puma's default$/, text)
    assert_match(/^hooks: before_worker_boot, lowlevel_error_handler\n/, text)
    assert_match(/^puma.rb:3: state_path has no effect: /, text)
  end

  def test_all_faults_are_reported
    args = %w[-w many -t 0 --access-log - --pidfile none/a.pid --user nobody-here --spool-dir /proc/none gone.ru]
    args.push("--access-log-format", "%{a")
    assert_equal <<~TEXT, check(*args, status: 2, stream: :stderr)
      bontebok: command line: max_workers wants auto or a whole number from 0 to 1024, not "many"
      bontebok: command line: threads wants a whole number from 1 to 64, not "0"
      bontebok: command line: there is no user nobody-here
      bontebok: cannot read the rackup file #{File.realpath(temp_dir)}/gone.ru: No such file or directory
      bontebok: spool_dir /proc/none cannot be written to: No such file or directory
      bontebok: access log: format: no } after %{a
      bontebok: cannot write the file #{File.realpath(temp_dir)}/none/a.pid: its directory does not exist
    TEXT
  end

  def test_a_fault_hides_no_other
    temp_file("c.rb", "frobnicate 1\nlisten '0.0.0.0:99999', 'unix:none/a.sock'\naccess_log 'none/a.log'\n" \
                      "directory '/proc/none'\nsocket_owner 'nobody-here'\naccess_log_format '%{a'\n")
    assert_equal <<~TEXT, check("-c", "c.rb", "--frobnicate", listen: nil, status: 2, stream: :stderr)
      bontebok: unknown option --frobnicate. See bontebok --help.
      bontebok: c.rb:1: unknown option frobnicate
      bontebok: c.rb:4: cannot change to the directory /proc/none: No such file or directory
      bontebok: c.rb:2: listen wants a port from 0 to 65535, not "0.0.0.0:99999"
      bontebok: c.rb:5: socket_owner wants a user and a group that exist, not "nobody-here"
      bontebok: c.rb:6: access log: format: no } after %{a
      bontebok: c.rb:3: cannot write to #{File.realpath(temp_dir)}/none/a.log: its directory does not exist
      bontebok: c.rb:2: cannot listen on unix:#{File.realpath(temp_dir)}/none/a.sock: its directory does not exist
    TEXT
  end

  # The application is not run.
  def test_the_syntax_of_the_application_and_missing_directories
    temp_file("a.ru", "raise\nrun (\n")
    assert_match(/\Abontebok: \S+a.ru:[23]: syntax error/, check("a.ru", status: 1, stream: :stderr))
    assert_match(%r{^command line: x_sendfile: the directory /proc/none does not exist$},
                 check("--x-sendfile", "/proc/none"))
  end

  # These files are only opened to append. A file that is not there needs a directory that can be written to.
  def test_logs_may_be_streams
    assert_match(%r{^log +/dev/stderr }, check("--log", "/dev/stderr", "--stdout", File::NULL))
    text = check("--log", "none/a.log", status: 1, stream: :stderr)
    assert_match(%r{: cannot write to .*none/a.log: its directory does not exist$}, text)
  end

  def test_a_directory_is_no_file
    text = check("--log", ".", "--stdout", ".", "--pidfile", ".", status: 1, stream: :stderr)
    assert_equal <<~TEXT, text
      bontebok: cannot write to #{File.realpath(temp_dir)}: Is a directory
      bontebok: cannot write the file #{File.realpath(temp_dir)}: Is a directory
    TEXT
  end

  def test_the_pid_file_of_a_running_server_is_a_fault
    temp_file("a.pid", "#{Process.pid}\n")
    text = check("--pidfile", "a.pid", status: 1, stream: :stderr)
    assert_match(/a.pid has the pid of a running server: #{Process.pid}$/, text)
    assert_equal ["a.pid"], Dir.children(temp_dir).grep(/pid/)
  end

  # The user of the application opens the logs. If a log is missing, root creates it for the user.
  def test_logs_belong_to_the_user
    skip "only root can become another user" unless Process.euid.zero?

    File.chmod(0o755, temp_dir)
    File.chmod(0o600, temp_file("a", ""))
    text = check("--user", "nobody", "--log", "a", status: 1, stream: :stderr)
    assert_match(/as the user nobody: cannot write to .*a: Permission denied$/, text)
    check("--user", "nobody", "--log", "new.log", "--access-log", "#{temp_dir}/access.log")
    assert_empty Dir.children(temp_dir).grep(/log/)
  end

  # A start replaces files of dead servers, and creates logs.
  def test_nothing_changes_on_the_disk
    FileUtils.mkdir(File.join(temp_dir, "tmp"))
    %w[a.sock a.control].each { |name| UNIXServer.new(File.join(temp_dir, name)).close }
    temp_file("a.pid", "99999999\n")
    rackup_file("config.ru", APP)
    before = tree
    [[], %w[--reuse-port]].each do |options|
      check("-l", "unix:a.sock", "--control", "a.control", "--pidfile", "a.pid", "--log", "a.log", "--stdout", "b.log",
            "--access-log", "c.log", *options, listen: nil)
      assert_equal before, tree
    end
  end

  # A start without a control socket only warns.
  def test_a_control_socket_that_cannot_be_made_is_a_warning
    temp_file("a", "")
    text = [check("--control", "none/c"), check("--control", "a")].join
    assert_match(%r{^no commands are taken: .*/none/c: its directory does not exist$}, text)
    assert_match(%r{^no commands are taken: .*/a: the file is not a socket$}, text)
  end

  def test_addresses_are_tried
    other = TCPServer.new("127.0.0.1", 0)
    temp_file("a", "")
    args = ["-l", "127.0.0.1:#{other.addr[1]}", "-l", "unix:none/a.sock", "-l", "unix:a"]
    text = check(*args, listen: nil, status: 1, stream: :stderr)
    assert_equal ["Address already in use by #{named(Process.pid)}", "its directory does not exist",
                  "the file is not a socket"], text.scan(/[^:]+$/).map(&:strip)
  ensure
    other&.close
  end

  def test_addresses_exclude_each_other
    port = (held = Support::HeldPort.new("::")).number
    [["0.0.0.0:#{port}", "127.0.0.1:#{port}"], ["*:#{port}", "[::]:#{port}"]].each do |first, second|
      text = check("-l", first, "-l", second, listen: nil, status: 1, stream: :stderr)
      assert_match(/\Abontebok: cannot listen on #{Regexp.escape(second)}: Address already in use by .*\n\z/, text)
    end
  ensure
    held&.release
  end

  # A deploy is checked while the old release serves.
  def test_the_addresses_of_a_running_server_are_not_checked
    temp_file("tmp/a", "")
    server = start_bontebok(rackup: APP, args: ["-w", "1"])
    assert_match(/^a server with the control socket .* runs: its addresses and its pid file are not checked$/,
                 check("-w", "1"))
    server.stop
  end

  # A stopped process has its ports and its control socket, and responds to nobody.
  def test_a_server_that_does_not_respond_counts_as_running
    temp_file("tmp/a", "")
    mute = UNIXServer.new("#{temp_dir}/tmp/bontebok.control")
    assert_match(/^a server with the control socket .* runs, but does not respond: its addresses and /,
                 check("-w", "1"))
  ensure
    mute&.close
  end

  private

  def tree
    Dir.glob("**/*", base: temp_dir).to_h { |name| [name, File.lstat(File.join(temp_dir, name)).ino] }
  end

  def check(*args, status: 0, stream: :stdout, **options)
    server = start_bontebok(ready: false, rackup: APP, args: ["--check", *args], **options)
    server.wait
    server.output.wait_for_end
    assert_equal status, server.status.exitstatus, server.output.text
    server.output.text(stream)
  end
end
