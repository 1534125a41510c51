# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "socket"
require "timeout"
require "bontebok/processes/forked_process"
require "bontebok/processes/pidfile"

# Tests the pid file: its content, and which process may replace or remove the file.
class PidfileTest < Support::TestCase
  def setup
    @path = File.join(temp_dir, "bontebok.pid")
    @pidfile = Bontebok::Pidfile.new(@path)
  end

  def test_the_file_is_written_whole_and_removed
    @pidfile.write
    assert_equal ["#{Process.pid}\n", ["bontebok.pid"]], [File.read(@path), Dir.children(temp_dir)]
    @pidfile.remove
    assert_empty Dir.children(temp_dir)
    @pidfile.remove
  end

  # Puma and unicorn do not lock their pid files.
  def test_a_file_of_another_server_is_not_replaced
    owner = start_ruby
    File.write(@path, "#{owner}\n")
    error = assert_raises(Bontebok::StartError) { @pidfile.write }
    assert_equal ["#{@path} has the pid of a running server: #{owner}", 1], [error.message, error.exit_status]
    assert_equal "#{owner}\n", File.read(@path)
  end

  # The file can be newer than the process, for example after a copy of the directory.
  def test_a_file_with_the_pid_of_another_program_is_replaced
    File.write(@path, "#{start_process('sleep', '60').pid}\n")
    @pidfile.write
    assert_equal "#{Process.pid}\n", File.read(@path)
  end

  def test_a_check_changes_nothing
    @pidfile.check
    assert_empty Dir.children(temp_dir)
    File.write(@path, "#{owner = start_ruby}\n")
    assert_raises(Bontebok::StartError) { @pidfile.check }
    error = assert_raises(Bontebok::StartError) { Bontebok::Pidfile.new(temp_dir).check }
    assert_equal "cannot write the file #{temp_dir}: Is a directory", error.message
    assert_equal "#{owner}\n", File.read(@path)
  end

  def test_a_stale_file_is_replaced
    ended = start_process("true").tap(&:wait).pid
    [ended, Process.pid, "", "nonsense", -1, 1 << 70].each do |text|
      File.write(@path, "#{text}\n")
      @pidfile.write
      assert_equal "#{Process.pid}\n", File.read(@path), text.to_s
    end
  end

  # After a reboot or a crash, another process can have the pid that is in the file.
  def test_a_file_that_is_older_than_the_process_with_its_pid_is_replaced
    File.write(@path, "#{start_ruby}\n")
    assert_raises(Bontebok::StartError) { @pidfile.write }
    File.utime(Time.now - 60, Time.now - 60, @path)
    File.stub(:readlink, ->(_) { raise Errno::EACCES }) { @pidfile.write } # the program of another user's process
    assert_equal "#{Process.pid}\n", File.read(@path)
  end

  # The clock may have been set forward, so that the file seems to be older than the process.
  def test_the_file_of_a_running_server_is_not_replaced_whatever_the_clock_says
    read, write = IO.pipe
    server = fork_server(write)
    read.read(1)
    assert_raises(Bontebok::StartError) { @pidfile.write }
    assert_equal "#{server}\n", File.read(@path)
  ensure
    Process.kill("KILL", server)
    Process.wait(server)
    [read, write].each(&:close)
  end

  # The rival starts between the check and the rename. It goes on when the file has our pid.
  def test_of_two_servers_that_start_at_the_same_moment_one_fails
    ours, its = UNIXSocket.pair
    rival = fork_rival(its)
    its.close
    @pidfile.define_singleton_method(:write_temporary) { super() && ours.write("start\n") && ours.wait_readable }
    @pidfile.write
    assert_equal "waits for the lock", ours.gets.chomp
    ours.puts("go on")
    assert_equal "#{@path} has the pid of a running server: #{Process.pid}", ours.gets.chomp
  ensure
    [ours, its].each(&:close)
    Process.wait(rival)
  end

  def test_a_forked_process_does_not_keep_the_lock
    @pidfile.write
    Bontebok::Pidfile.keep(@path) do
      assert locked?
      child = Bontebok::ForkedProcess.fork(to_close: [Bontebok::Pidfile]) { sleep }
      Bontebok::Pidfile.disown
      eventually { !locked? }
      child.kill
      Process.wait(child.pid)
      child.channel.close
    end
  end

  def test_a_file_of_a_zombie_is_replaced
    zombie = Process.spawn("true")
    eventually { File.read("/proc/#{zombie}/stat").include?(") Z ") }
    File.write(@path, "#{zombie}\n")
    @pidfile.write
    assert_equal "#{Process.pid}\n", File.read(@path)
  ensure
    Process.wait(zombie)
  end

  def test_only_its_owner_may_write_to_the_file
    former = File.umask(0)
    @pidfile.write
    assert_equal "644", File.stat(@path).mode.to_s(8)[-3..]
  ensure
    File.umask(former)
  end

  def test_a_link_under_the_temporary_name_is_not_followed
    other = temp_file("other", "its own")
    File.symlink(other, "#{@path}.#{Process.pid}")
    @pidfile.write
    assert_equal ["its own", "file"], [File.read(other), File.lstat(@path).ftype]
  end

  # Other users may be able to write in the directory.
  def test_a_pipe_or_endless_device_at_the_path_is_replaced
    [-> { File.mkfifo(@path) }, -> { File.symlink("/dev/zero", @path) }].each do |make|
      make.call
      Timeout.timeout(60) { @pidfile.write }
      assert_equal ["#{Process.pid}\n", "file"], [File.read(@path), File.lstat(@path).ftype]
      @pidfile.remove
    end
  end

  def test_remove_leaves_the_file_of_another_process
    @pidfile.write
    File.write(@path, "1\n")
    @pidfile.remove
    assert_path_exists @path
  end

  def test_a_file_that_cannot_be_written_is_an_error
    error = assert_raises(Bontebok::StartError) { Bontebok::Pidfile.new("/proc/none/a.pid").write }
    assert_equal "cannot write the file /proc/none/a.pid: its directory does not exist", error.message
    Dir.mkdir(@path)
    assert_raises(Bontebok::StartError) { @pidfile.write }
    assert_equal ["bontebok.pid"], Dir.children(temp_dir)
  end

  private

  # Starts a program that runs in the same interpreter as this one. Returns its pid.
  # Waits until it runs: a signal that comes while Ruby starts may be lost.
  def start_ruby
    child = start_process(RbConfig.ruby, "--disable-gems", "-e", "$stdout.sync = true; print 'runs'; sleep")
    child.wait_for_output(/runs/)
    child.pid
  end

  # Writes the file, and then sets its time back. Writes a byte to the pipe and keeps running.
  def fork_server(pipe)
    fork do
      @pidfile.write
      Bontebok::Pidfile.keep(@path) do
        File.utime(Time.now - 3600, Time.now - 3600, @path)
        pipe.write(".")
        sleep
      end
    end
  end

  # Waits for a line, and then writes the file. If it has to wait for the lock, it says so and waits for a line.
  def fork_rival(channel)
    fork do
      Bontebok::DirectoryLock.define_singleton_method(:sleep) do |_|
        channel.puts("waits for the lock")
        channel.gets
      end
      channel.gets
      Bontebok::Pidfile.new(@path).write
      channel.puts("has written the file")
    rescue Bontebok::StartError => e
      channel.puts(e.message)
    end
  end

  def locked?
    File.open(@path) { |file| !file.flock(File::LOCK_EX | File::LOCK_NB) }
  end
end
