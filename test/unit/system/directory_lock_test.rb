# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "timeout"
require "bontebok/system/directory_lock"

# Tests DirectoryLock: who has the lock, and that the block runs in any case.
class DirectoryLockTest < Support::TestCase
  def test_the_block_has_the_lock
    assert_equal [true, false], [Bontebok::DirectoryLock.hold(temp_dir) { locked? }, locked?]
  end

  def test_an_exception_of_the_block_releases_the_lock
    assert_raises(IOError) { Bontebok::DirectoryLock.hold(temp_dir) { raise IOError } }
    refute locked?
  end

  def test_without_a_directory_the_block_runs_without_a_lock
    pipe = File.join(temp_dir, "pipe")
    File.mkfifo(pipe)
    [pipe, temp_file("file", ""), "/proc/none"].each do |path|
      assert_equal path, Timeout.timeout(60) { Bontebok::DirectoryLock.hold(path) { path } }
    end
  end

  def test_on_a_file_system_without_locks_the_block_runs_without_a_lock
    directory = File.new(temp_dir)
    directory.define_singleton_method(:flock) { |_| raise Errno::ENOLCK }
    File.stub(:new, directory) { assert_equal 3, Bontebok::DirectoryLock.hold(temp_dir) { 3 } }
    assert_predicate directory, :closed?
  end

  private

  def locked?
    File.open(temp_dir) { |directory| !directory.flock(File::LOCK_EX | File::LOCK_NB) }
  end
end
