# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/processes/supervisor/restart_watch"

# Tests which restart file the supervisor watches, when a configuration takes effect.
class RestartWatchTest < Support::TestCase
  def setup
    @watched = {}
    @options = []
  end

  def teardown
    @watched.each_value { |thread| thread.kill.join }
  end

  # A new watch would not see a change of the file since the last look.
  def test_the_watch_of_the_same_file_goes_on
    follow(make, "tmp/restart.txt", "tmp/restart.txt", "/srv/app/tmp/restart.txt")
    assert_equal ["/srv/app/tmp/restart.txt"], @watched.keys
    assert_predicate @watched.values.last, :alive?
  end

  def test_another_file_is_watched_instead
    watch = make
    follow(watch, "one", "two", nil)
    assert_equal %w[/srv/app/one /srv/app/two], @watched.keys
    @watched.each_value(&:join)
    follow(watch, "two")
    assert_predicate @watched.values.last, :alive?
  end

  def test_only_the_first_watch_goes_on_with_what_the_former_program_has_seen
    follow(make([10, 5]), "one", "two")
    follow(make([]), "three")
    assert_equal [{ last: Time.at(10, 5, :nsec) }, {}, { last: nil }], @options
  end

  private

  def make(seen = nil) = Bontebok::Supervisor::RestartWatch.new("/srv/app", seen) { flunk }

  def follow(watch, *files)
    begin_to_watch = lambda do |path, **options|
      refute_predicate @watched[path], :alive? if @watched[path]
      @options << options
      @watched[path] = Thread.new { sleep }
    end
    Bontebok::RestartFile.stub(:watch, begin_to_watch) { files.each { |file| watch.configure({ restart_file: file }) } }
  end
end
