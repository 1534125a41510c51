# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/processes/supervisor/configuration"

# Tests how the supervisor follows the configuration of a generation that takes effect.
class SupervisorConfigurationTest < Support::TestCase
  # The part of Supervisor.
  class Follower
    include Bontebok::Supervisor::Configuration

    def initialize
      @seen = {}
    end

    def follow(file)
      @config = { restart_file: file }
      @directory = "/srv/app"
      watch_restart_file
    end
  end

  def setup
    @follower = Follower.new
    @watched = {}
  end

  def teardown
    @watched.each_value { |thread| thread.kill.join }
  end

  # A new watch would not see a change of the file since the last look.
  def test_the_watch_of_the_restart_file_goes_on
    follow("tmp/restart.txt", "tmp/restart.txt", "/srv/app/tmp/restart.txt")
    assert_equal ["/srv/app/tmp/restart.txt"], @watched.keys
    assert_predicate @watched.values.last, :alive?
  end

  def test_another_restart_file_is_watched_instead
    follow("one", "two", nil)
    assert_equal %w[/srv/app/one /srv/app/two], @watched.keys
    @watched.each_value(&:join)
    follow("two")
    assert_predicate @watched.values.last, :alive?
  end

  private

  def follow(*files)
    watch = lambda do |path|
      refute_predicate @watched[path], :alive? if @watched[path]
      @watched[path] = Thread.new { sleep }
    end
    Bontebok::RestartFile.stub(:watch, watch) { files.each { |file| @follower.follow(file) } }
  end
end
