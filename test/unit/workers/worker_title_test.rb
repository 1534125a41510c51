# frozen_string_literal: true

require "test_helper"
require "bontebok/workers/worker_title"

# Tests the title of a worker's process.
class WorkerTitleTest < Support::TestCase
  def setup
    @former = Process.argv0
    @title = Bontebok::WorkerTitle.new(2, 3, "shop")
  end

  def teardown
    Process.setproctitle(@former)
  end

  def test_the_title_shows_the_state_of_the_worker
    assert_equal "loading", state
    %w[busy idle busy draining].each do |name|
      @title.public_send(name)
      assert_equal name, state
    end
  end

  def test_the_title_of_a_draining_worker_stays_draining
    @title.draining
    @title.busy
    @title.idle
    assert_equal "draining", state
  end

  def test_a_title_without_a_tag_ends_with_the_state
    Bontebok::WorkerTitle.new(1, 1, "")
    assert_equal "bontebok worker 1 gen 1 loading", shown
  end

  private

  def state
    shown[/\Abontebok worker 2 gen 3 (\w+) shop\z/, 1]
  end

  def shown
    File.read("/proc/self/cmdline").delete("\0").rstrip
  end
end
