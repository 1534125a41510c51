# frozen_string_literal: true

require "test_helper"

# Ten wrong ways to start the server. Each start ends at once, with a message of at most three lines. The exit status is
# 2 if the options are wrong, and 1 if the system or the application has a fault. No process and no new file is left.
# cli_start_test.rb and config_files_test.rb test other wrong options, paths and addresses.
class WrongStartsTest < Support::TestCase
  APP = "run ->(_) { [200, {}, []] }\n"
  # A start must be rejected before it loads this application.
  LOADED = "raise 'the application was loaded'\n"
  KINDS = [%w[-w 0], %w[-w 2], %w[-w 2 --preload false]].freeze
  # Runs a command in a network namespace in which the command may not bind a port below 1024.
  UNPRIVILEGED = ["unshare", "--map-root-user", "--net", "sh", "-c",
                  'echo 1024 >/proc/sys/net/ipv4/ip_unprivileged_port_start && exec unshare --user "$@"', "sh"].freeze

  # RubyGems loads DidYouMean, and DidYouMean guesses the option.
  def test_an_unknown_option_is_rejected_with_a_guess
    message = "unknown option --worker. Did you mean --workers?"
    assert_refused 2, message, "--worker", "4", within: %w[env -u RUBYOPT]
  end

  def test_a_bad_value_is_rejected
    assert_refused 2, 'command line: threads wants a whole number from 1 to 64, not "many"', "-t", "many"
  end

  def test_a_used_port_is_rejected
    TCPServer.open("127.0.0.1", 0) do |server|
      address = "127.0.0.1:#{server.local_address.ip_port}"
      assert_refused 1, "cannot listen on #{address}: Address already in use by #{named(Process.pid)}", "-l", address
    end
  end

  def test_a_used_socket_is_rejected
    address = "unix:#{temp_dir}/used.sock"
    living = start_bontebok(listen: nil, args: ["-w", "1", "-l", address], rackup: APP)
    assert_refused 1, "cannot listen on #{address}: Address already in use by #{named(living.pid)}", "-l", address
    assert_equal 200, living.get.status
  end

  def test_a_missing_directory_is_rejected
    assert_refused 1, "command line: cannot change to the directory none: No such file or directory", "--directory",
                   "none"
  end

  def test_a_missing_file_is_rejected
    assert_refused 1, "cannot read the rackup file #{temp_dir}/none.ru: No such file or directory", "none.ru"
  end

  # With workers, the last line of the log says that the start has failed.
  def test_an_application_that_raises_fails_the_start
    KINDS.first(2).each do |kind|
      text = failed_start(1, *kind, rackup: "\nraise IndexError, 'no such shelf'\n")
      assert_match(/error .* the application #{temp_dir}.* cannot be loaded: no such shelf \(IndexError\)$/, text)
      assert_match(%r{^  #{temp_dir}/config\.ru:2:in }, text)
      assert_operator text.lines.size, :<=, 3, text
    end
  end

  def test_an_application_that_leaves_no_descriptor_fails_the_start
    text = failed_start(1, "-w", "1", within: ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"], rackup: <<~RUBY)
      $files = []
      loop { $files << File.open(File::NULL) } rescue Errno::EMFILE
      #{APP}
    RUBY
    assert_match(/error .* cannot serve: Too many open files .*\(Errno::EMFILE\)$/, text)
  end

  def test_a_hook_that_raises_fails_the_start
    temp_file("hooks.rb", "before_fork { raise IOError, 'no database' }\n")
    text = failed_start(1, "-w", "1", "-c", "hooks.rb", rackup: APP)
    assert_match(/error .* worker 1 cannot be started: the hook before_fork failed: no database \(IOError\)$/, text)
    assert_match(/^  hooks\.rb:1:in /, text)
    lines = text.lines.grep(/^\S/).grep_v(/ info .* master \(pid \d+\) has left: /) # Only some runs have this line.
    assert_operator lines.size, :<=, 3, text
  end

  def test_a_second_server_with_the_pid_file_is_rejected
    path = "#{temp_dir}/a.pid"
    living = start_bontebok(args: ["-w", "1", "--pidfile", path], rackup: APP)
    assert_refused 1, "#{path} has the pid of a running server: #{living.pid}", "--pidfile", path
    assert_equal "#{living.pid}\n", File.read(path)
  end

  def test_a_pid_file_above_the_limit_of_the_size_of_files_is_rejected
    path = "#{temp_dir}/a.pid"
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"]
    assert_refused 1, "cannot write the file #{path}: File too large", "--pidfile", path, within: limited
  end

  def test_a_port_that_the_user_may_not_bind_is_rejected
    skip_unless_permitted
    hint = "Permission denied: a port below 1024 needs root or CAP_NET_BIND_SERVICE"
    assert_refused 1, "cannot listen on 0.0.0.0:80: #{hint}", "-l", "80", within: UNPRIVILEGED
    assert_refused 1, "cannot listen on 0.0.0.0:1023: #{hint}", "-l", "1023", within: UNPRIVILEGED
  end

  # The user who starts the server reads the terminal, not the log.
  def test_the_terminal_and_the_log_get_the_message_of_a_failed_start
    log = temp_file("err.log")
    TCPServer.open("127.0.0.1", 0) do |server|
      address = "127.0.0.1:#{server.local_address.ip_port}"
      message = "cannot listen on #{address}: Address already in use by #{named(Process.pid)}"
      assert_refused 1, message, "-l", address, "--log", log
      assert_equal ["bontebok: #{message}\n"] * 3, File.readlines(log)
    end
    KINDS.each do |kind|
      text = failed_start(1, *kind, "--log", log, rackup: "raise 'boom'\n")
      assert_match(/ error .* cannot be loaded: boom .*\nbontebok: the start failed: #{log} says why\n\z/m, text)
      assert_includes File.read(log), " cannot be loaded: boom "
      File.truncate(log, 0)
    end
  end

  def test_a_server_that_has_started_closes_the_terminal
    KINDS.each do |kind|
      server = start_bontebok(ready: false, args: [*kind, "--log", "err.log", "--stdout", "err.log"], rackup: APP)
      server.output.wait_for_end
      assert_equal ["", 0], [server.output.text, server.stop.exitstatus]
    end
  end

  private

  # Tests each of KINDS. The server prints only the message, and does not load the application.
  def assert_refused(status, message, *args, within: [])
    KINDS.each do |kind|
      text = failed_start(status, *kind, *args, rackup: LOADED, within: within)
      assert_equal "bontebok: #{message}\n", text
    end
  end

  # Returns the output. The harness fails a test that leaves a process.
  def failed_start(status, *args, rackup:, within: [])
    rackup_file("config.ru", rackup)
    before = Dir.children(temp_dir)
    server = Support::ServerProcess.new(*within, RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, *address(args),
                                        *args, chdir: temp_dir)
    children << server
    assert_equal status, server.wait.exitstatus, args.join(" ")
    server.output.wait_for_end
    assert_equal [[], before], [server.group, Dir.children(temp_dir)]
    server.output.text
  end

  def address(args)
    args.include?("-l") ? [] : ["-l", "unix:#{temp_dir}/wrong.sock"]
  end

  # If the kernel forbids name spaces, there is nothing to test.
  def skip_unless_permitted
    child = Support::ChildProcess.run(*UNPRIVILEGED, "true")
    skip "not permitted here: #{child.output.text}" unless child.status.success?
  end
end
