# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/restart_file"

# Tests that each creation and each change of the restart file is reported once.
class RestartFileTest < Support::TestCase
  def test_each_change_is_reported_once
    told = Queue.new
    path = File.join(temp_dir, "restart.txt")
    watch = Bontebok::RestartFile.watch(path, interval: 0.001) { told.push(:changed) }
    [1, 2, 3].each do |second|
      put(path, second)
      assert_equal :changed, told.pop
    end
    File.unlink(path)
    put(path, 3) # the same time as before
    put(path, 4)
    assert_equal :changed, told.pop
    assert_empty told
  ensure
    watch&.stop&.join
  end

  def test_a_change_from_before_the_watch_is_reported_if_the_former_time_is_known
    told = Queue.new
    path = temp_file("restart.txt")
    watch = Bontebok::RestartFile.watch(path, seen: [], interval: 0.001) { told.push(:changed) }
    assert_equal :changed, told.pop
  ensure
    watch&.stop&.join
  end

  def test_the_watch_knows_its_file_and_what_it_has_seen
    path = temp_file("restart.txt")
    put(path, Time.at(10, 5, :nsec))
    watch = Bontebok::RestartFile.watch(path) { flunk }
    assert_equal [[10, 5], true, false], [watch.seen, watch.watches?(path), watch.watches?("#{path}.other")]
    assert_equal [10, 5], Bontebok::RestartFile.look(path)
    assert_empty Bontebok::RestartFile.look("#{path}.other")
    watch.stop.join
    refute watch.watches?(path)
  ensure
    watch&.stop
  end

  private

  # Replaces the file with a new file. second: the modification time of the new file.
  def put(path, second)
    File.write("#{path}.new", "")
    File.utime(second, second, "#{path}.new")
    File.rename("#{path}.new", path)
  end
end
