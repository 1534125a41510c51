# frozen_string_literal: true

require "test_helper"
require "bontebok/worker_title"

# What a worker is called, and when it must be looked at.
class WorkerTitleTest < Support::TestCase
  Lanes = Struct.new(:rest)

  def setup
    @former = Process.argv0
    @lanes = Lanes.new(true)
    @title = Bontebok::WorkerTitle.new(2, 3, "shop")
  end

  def teardown
    Process.setproctitle(@former)
  end

  def test_a_life
    assert_equal ["loading", nil], state
    @title.serving(@lanes)
    assert_equal ["idle", nil], state
    @title.busy
    assert_equal ["busy", 1], state
    @lanes.rest = false
    @title.look
    assert_equal ["busy", 1], state
    @lanes.rest = true
    @title.look
    assert_equal ["idle", nil], state
    @title.draining
    assert_equal ["draining", nil], state
  end

  def test_one_that_is_busy_from_the_first_moment
    @lanes.rest = false
    @title.serving(@lanes)
    assert_equal ["busy", 1], state
  end

  def test_what_drains_goes_on_draining
    @title.serving(@lanes)
    @title.draining
    @title.busy
    assert_equal ["draining", nil], state
    @title.look
    assert_equal ["draining", nil], state
  end

  def test_without_a_tag
    Bontebok::WorkerTitle.new(1, 1, "")
    assert_equal "bontebok worker 1 gen 1 loading", shown
  end

  private

  def state
    [shown[/\Abontebok worker 2 gen 3 (\w+) shop\z/, 1], @title.seconds]
  end

  def shown
    File.read("/proc/self/cmdline").delete("\0").rstrip
  end
end
