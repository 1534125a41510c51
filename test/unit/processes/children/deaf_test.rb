# frozen_string_literal: true

require "test_helper"
require_relative "../../support/workers/workers_case"

# Tests workers that have closed their channel (the socket to their master) and still run.
class ChildrenDeafTest < Support::TestCase
  include WorkersCase

  def test_a_child_without_a_channel_is_replaced_at_once_and_has_time_to_end
    serve(1)
    lose(@started[0])
    assert_equal 2, @started.size
    assert_equal :lost, child_of(@started[0]).cause
    assert_equal ["error worker (pid 101) has closed its channel: it is replaced, and has 60 s to end"], @log
    assert_empty @started[0].signals
    be_ready(@started[1])
    pass_time(60)
    assert_log "error worker (pid 101) did not end within 60 s: killed"
    assert_equal [:KILL], @started[0].signals
  end

  # Without a pause, the child would be started again and again.
  def test_the_second_child_in_a_row_that_closes_its_channel_is_a_failure
    serve(1, pause: 30)
    lose(@started[0])
    be_ready(@started[1])
    lose(@started[1])
    assert_equal 2, @started.size
    pass_time(29)
    assert_equal 2, @started.size
    pass_time(1)
    assert_equal 3, @started.size
  end

  def test_a_loading_child_that_closes_its_channel_is_a_failed_start
    keep(1)
    lose(@started[0])
    assert_equal 1, @started.size
    assert_empty @started[0].signals
    pass_time(1)
    assert_equal 2, @started.size
    lose(@started[1])
    assert_equal 1, @workers.hopeless
    pass_time(60)
    assert_equal [:KILL], @started[0].signals
  end

  # When a process ends, its channel closes a moment before the parent can reap the process.
  def test_a_child_that_has_closed_its_channel_has_half_a_second_to_end
    serve(1)
    @started[0].close
    @workers.tick
    assert_in_delta 0.5, @workers.deadline - now
    pass_time(0.4)
    assert_equal 1, @started.size
    pass_time(0.1)
    assert_equal 2, @started.size
  end

  def test_the_log_does_not_say_that_a_child_that_ends_has_closed_its_channel
    serve(1)
    @started[0].close
    @workers.tick
    let_end(@started[0], :die, "KILL")
    assert_equal ["warn worker (pid 101) ended: killed by SIGKILL, 0.0 s after it was ready"], @log
  end

  def test_a_leaving_child_that_closes_its_channel_keeps_its_time_limit
    serve(1)
    @workers.stop(:drain)
    lose(@started[0])
    assert_empty @log
    pass_time(59)
    assert_empty @started[0].signals
    pass_time(1)
    assert_equal [:KILL], @started[0].signals
  end

  def test_a_child_that_waits_for_its_replacement_and_closes_its_channel_must_end
    serve(1, pause: 30)
    say(:leave)
    lose(@started[0])
    assert_equal 2, @started.size
    assert_equal :descriptors, child_of(@started[0]).cause
    pass_time(60)
    assert_equal [:KILL], @started[0].signals
  end

  private

  # The process closes its channel, and runs on.
  def lose(process)
    process.close
    @workers.tick
    pass_time(0.5)
  end
end
