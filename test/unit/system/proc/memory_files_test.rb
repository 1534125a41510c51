# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/bontebok"
require "bontebok/system/proc/memory_files"

# Tests MemoryFiles with the file of a scoreboard, which is a file in memory. Files that other tests have left open do
# not count.
class MemoryFilesTest < Support::TestCase
  NAME = "bontebok-scoreboard"
  NOBODY = 65_534

  def setup
    super
    skip "the system has no files in memory" if Bontebok::Core::PORTABLE
    @left = memory_files.filter_map { |number| inode_of(number) }
    @file = IO.for_fd(Bontebok::Core::Scoreboard.file(2))
    @found = Bontebok::MemoryFiles.new(NAME)
  end

  def teardown
    [@file, *@found&.files].compact.each(&:close)
    super
  end

  def test_a_file_is_found_once_and_can_only_be_read
    copy = @file.dup
    @found.search(Process.pid).search(Process.pid)
    assert_equal [@file.stat.ino], inodes
    found = @found.files.find { |file| file.stat.ino == @file.stat.ino }
    assert_match(/\Abontebok/, found.read(12))
    assert_raises(IOError) { found.write("x") }
    assert_predicate found, :close_on_exec?
    refute_predicate @found, :refused?
  ensure
    copy&.close
  end

  def test_a_known_file_is_left
    @found = Bontebok::MemoryFiles.new(NAME, known: [@file]).search(Process.pid)
    assert_empty inodes
  end

  def test_files_of_other_names_are_left
    @found = Bontebok::MemoryFiles.new("bontebok-metrics").search(Process.pid)
    assert_empty inodes
  end

  def test_a_stopped_process_shows_its_files
    with_process do |pid|
      stop_process(pid)
      @found.search(pid)
    end
    assert_equal [@file.stat.ino], inodes
  end

  # A supervisor, its master and a worker. The first two have closed the file.
  def test_the_family_of_a_process_is_searched
    reader, writer = IO.pipe
    with_process(-> { family(writer) }) do |pid|
      assert_equal "R", reader.readpartial(1)
      eventually { Support::ProcessTable.descriptors(pid).values.grep(/memfd/).empty? }
      assert_empty @found.search(pid).files
      @found.search_family(pid)
    end
    assert_equal [@file.stat.ino], inodes
  ensure
    [reader, writer].each(&:close)
  end

  # Two servers that share a queue: a process has the files of both.
  def test_a_process_can_have_several
    other = IO.for_fd(Bontebok::Core::Scoreboard.file(2))
    @found.search(Process.pid)
    assert_equal [@file, other].map { |file| file.stat.ino }.sort, inodes.sort
  ensure
    other&.close
  end

  def test_a_process_that_does_not_exist_has_none
    assert_empty @found.search(-1).search(1 << 40).search_family(0).files
    refute_predicate @found, :refused?
  end

  # Root looks as another user.
  def test_another_user_is_refused
    seen = seen_by_another_user { |pid| @found.search(pid) && [@found.refused?, @found.files.size] }
    assert_equal "[true, 0]", seen
  end

  # Between the look and the open, the number can get another file.
  def test_a_descriptor_that_changes_meanwhile_is_not_taken
    pipe = IO.pipe
    real = File.method(:readlink)
    lies = ["/proc/#{Process.pid}/fd/#{pipe.first.fileno}"]
    lie = ->(path) { lies.delete(path) ? "/memfd:#{NAME} (deleted)" : real.unbind.bind_call(File, path) }
    @file.close
    File.stub(:readlink, lie) { @found.search(Process.pid) }
    assert_empty inodes
    assert_empty lies
  ensure
    pipe.each(&:close)
  end

  private

  def inodes = @found.files.map { |file| file.stat.ino } - @left

  # The numbers of the descriptors of this process that are files in memory.
  def memory_files
    Dir.children("/proc/self/fd").map(&:to_i).select do |number|
      File.readlink("/proc/self/fd/#{number}").start_with?("/memfd:")
    rescue Errno::ENOENT
      false
    end
  end

  # nil: a file that another test has left was collected meanwhile.
  def inode_of(number)
    File.stat("/proc/self/fd/#{number}").ino
  rescue Errno::ENOENT
    nil
  end

  # Yields the pid of a child that calls the Proc, in a group of its own, which is killed.
  def with_process(work = -> { sleep })
    pid = fork(&work)
    Process.setpgid(pid, pid)
    yield pid
  ensure
    Process.kill("KILL", -pid)
    Process.wait(pid)
  end

  # The processes are in the group of the first one.
  def family(ready)
    Process.setpgid(0, 0)
    (memory_files - [@file.fileno]).each { |number| IO.for_fd(number).close }
    fork do
      fork do
        ready.write("R")
        sleep
      end
      @file.close
      sleep
    end
    @file.close
    sleep
  end

  # The result of the block in a process of another user. Yields the pid of a process that this user may not look into.
  def seen_by_another_user
    return yield(1).inspect unless Process.uid.zero?

    own = Process.pid
    reader, writer = IO.pipe
    with_process(lambda do
      Process::UID.change_privilege(NOBODY)
      writer.write(yield(own).inspect)
      writer.close
      sleep
    end) do
      writer.close
      reader.read
    end
  ensure
    [reader, writer].compact.each(&:close)
  end
end
