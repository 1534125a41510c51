# frozen_string_literal: true

require "pty"
require "shellwords"
require "test_helper"

# A server in a terminal of its own: what it shows there, and what HUP does when the terminal is closed, and when it is
# not.
class TerminalTest < Support::TestCase
  APP = "run ->(_) { [200, {}, [\"ok\"]] }\n"
  DEVELOPERS = [[], %w[-w 1], %w[-w 0 -E production]].freeze

  def teardown
    @reader&.close
    @writer&.close
    [*@started, *@server].each { |pid| kill(pid) if alive?(pid) }
    @waiter&.join
    super
  end

  def test_a_closed_terminal_ends_the_server
    DEVELOPERS.each do |args|
      start(*server(*args))
      close_terminal
      assert_ended
      assert_match(/the terminal is closed$/, log, args)
    end
  end

  def test_the_terminal_shows_where_the_log_is
    [%w[-w 0], %w[-w 1]].each do |args|
      start(*server(*args))
      assert_equal "bontebok: the log is #{temp_dir}/log\r\n", (@reader.gets if @reader.wait_readable(60))
      Process.kill("TERM", @server)
      assert_ended
    end
  end

  # The port must be free when the developer starts the server again.
  def test_a_closed_terminal_ends_the_drain_delay
    [%w[-w 0], %w[-w 1]].product([true, false]).each do |args, drains|
      start(*server(*args, "--drain-delay", "10m"))
      Process.kill("TERM", @server) && wait_for(/draining: stops in 60/) if drains
      close_terminal
      assert_ended
      assert_match(/the terminal is closed$/, log)
    end
  end

  # The server is a job of the shell that the terminal runs.
  def test_a_closed_terminal_ends_the_server_of_its_shell
    start("sh", "-i") { |writer| writer.puts(server.shelljoin) }
    close_terminal
    assert_ended
  end

  # A shell can send HUP to its jobs when it exits. At that time the terminal is still there.
  def test_a_shell_that_exits_ends_the_server
    start("sh", "-mc", "#{server.shelljoin} & read line; kill -HUP $!; read line")
    @writer.puts
    wait_for(/log files are opened again$/)
    @writer.puts
    assert_ended
  end

  def test_the_terminal_is_closed_while_the_application_loads
    start(*server, rackup: "$stderr.puts(:loads)\nsleep\n", ready: /^loads$/)
    close_terminal
    assert_ended
  end

  def test_nohup_keeps_the_server
    start("nohup", *server)
    close_terminal
    assert_serves
  end

  def test_a_server_in_production_keeps_its_workers
    start(*server("-w", "1", "-E", "production"))
    close_terminal
    wait_for(/log files are opened again/)
    assert_serves
  end

  def test_hup_in_an_open_terminal_opens_the_logs_again
    DEVELOPERS.each do |args|
      start(*server(*args))
      Process.kill("HUP", @server)
      wait_for(/log files are opened again/)
      assert_serves
      Process.kill("TERM", @server)
      assert_ended
    end
  end

  private

  # Runs the command in a terminal. The block gets the keyboard of the terminal.
  def start(*command, rackup: APP, ready: / ready in \d+ ms$/)
    temp_file("config.ru", rackup)
    FileUtils.rm_f(File.join(temp_dir, "log"))
    env = Support::GemDirectories.environment.merge(Support::ServerProcess::ENVIRONMENT)
    @reader, @writer, @started = PTY.spawn(env, *command, chdir: temp_dir)
    @waiter = Process.detach(@started)
    yield @writer if block_given?
    wait_for(ready)
    @server = Integer(File.read(File.join(temp_dir, "pid")))
  end

  def server(*args)
    [RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "-l", "unix:#{temp_dir}/sock", "--log", "log",
     "--pidfile", "pid", *args]
  end

  def close_terminal
    @reader.close
    @writer.close
    eventually("the loss of the terminal") { terminal(@server).zero? }
  end

  # The number of the controlling terminal (proc(5)); 0: none, or the process is gone.
  def terminal(pid)
    File.read("/proc/#{pid}/stat")[/\) (.*)/m, 1].split[4].to_i
  rescue SystemCallError
    0
  end

  # @waiter may reap the process after the look at it.
  def kill(pid)
    Process.kill("KILL", pid)
  rescue Errno::ESRCH
    nil
  end

  def alive?(pid)
    !Support::ProcessTable.entry(pid).nil?
  end

  def assert_ended
    eventually("the end of the server", seen: -> { log }) { !alive?(@server) }
    refute_path_exists File.join(temp_dir, "sock")
  end

  # The server handles USR1 after HUP.
  def assert_serves
    count = log.scan("log files are opened again").size
    Process.kill("USR1", @server)
    eventually("the effect of USR1", seen: -> { log }) { log.scan("log files are opened again").size > count }
    Support::Client.open(Support::Address.new("unix:#{temp_dir}/sock")) do |client|
      assert_equal 200, client.get("/").status
    end
    refute_match(/the terminal is closed/, log)
  end

  def wait_for(pattern)
    eventually(pattern.inspect, seen: -> { log }) { pattern.match?(log) }
  end

  def log
    File.read(File.join(temp_dir, "log"))
  rescue Errno::ENOENT
    ""
  end
end
