# frozen_string_literal: true

require "test_helper"
require_relative "../../support/workers/workers_case"

# Tests workers in which requests hang.
class ChildrenHungTest < Support::TestCase
  include WorkersCase

  def test_all_children_that_hang_are_replaced_at_once
    hang(3)
    assert_equal [1, 2, 3, 1, 2, 3], numbers
    @started.first(3).each { |process| assert_equal [[:retire], []], [process.said, process.signals] }
    assert_log "warn worker 2 (pid 102) hangs in a request: it leaves when its replacement is ready"
  end

  def test_a_child_that_hangs_serves_until_its_replacement_is_ready
    serve(1)
    say(:hung)
    say(:loaded, by: @started[1])
    assert_serves @started[0]
    say(:ready, by: @started[1])
    assert_equal [:retire], @started[0].said
    pass_time(60)
    assert_log "error worker (pid 101) did not end within 60 s: killed"
  end

  def test_a_child_that_hangs_twice_is_logged_once
    serve(1)
    2.times { say(:hung, by: @started[0]) }
    assert_equal [1, 2], [@log.size, @started.size]
  end

  def test_a_child_that_hangs_in_all_threads_has_a_second_to_end
    serve(1)
    say(:stuck)
    assert_equal [2, %i[retire hurry], []], [@started.size, @started[0].said, @started[0].signals]
    pass_time(1)
    @workers.tick
    assert_equal ["warn worker (pid 101) hangs in all its threads: it ends within 1 s",
                  "error worker (pid 101) did not end within 1 s: killed",
                  "info worker (pid 101) has left: killed by SIGKILL"], @log
  end

  def test_a_child_that_hangs_first_in_some_and_then_in_all_threads_is_logged_twice
    serve(1)
    %i[hung stuck].each { |word| say(word, by: @started[0]) }
    assert_equal 2, @log.size
    pass_time(1)
    assert_equal [:KILL], @started[0].signals
  end

  def test_a_child_that_leaves_and_hangs_in_all_threads_has_a_second_to_end
    serve(1)
    @workers.stop(:drain)
    say(:stuck)
    assert_log "warn worker (pid 101) hangs in all its threads: it ends within 1 s"
    pass_time(1)
    assert_log "error worker (pid 101) did not end within 1 s: killed"
    @workers.tick
    assert_empty @workers
  end

  # A shorter time stays.
  def test_a_child_that_must_end_soon_and_hangs_gets_no_more_time
    serve(1, grace: 0.5)
    @workers.stop(:drain)
    say(:stuck)
    pass_time(0.5)
    assert_equal [:KILL], @started[0].signals
  end

  def test_a_child_that_has_only_requests_that_hang_is_killed_at_once
    serve(1)
    say(:emptied)
    assert_equal [2, [:KILL]], [@started.size, @started[0].signals]
    assert_log "error worker (pid 101) has only requests that hang: killed"
  end

  def test_what_a_killed_child_says_about_requests_that_hang_is_late
    serve(1)
    @started[0].busy = true
    say(:emptied, :stuck, :hung)
    assert_equal 2, @log.size
    assert_nil @started[0].deadline
  end

  def test_at_most_twice_the_wanted_number_of_children_run
    hang(2)
    say(:hung, by: @started.last(2))
    3.times { @workers.tick }
    assert_equal 4, @started.size
    crowded = "warn 4 workers hang, 2 more than there must be: the next one is started when one of them has ended"
    assert_equal [crowded], @log.grep(/more than/)
    let_end(@started[0], :die, "KILL")
    assert_equal [1, 2, 1, 2, 1], numbers
  end

  # A connection that the application has taken over may last for hours.
  def test_a_child_that_only_waits_for_hijacked_connections_takes_nobodys_place
    hang(2)
    say(:hung, by: @started.last(2))
    say(:waits, by: @started[1])
    assert_equal 5, @started.size
  end

  def test_a_child_that_hangs_does_not_delay_the_replacement_of_another_child
    serve(2)
    say(:hung, by: @started[0])
    be_ready(@started[2])
    say(:leave, by: @started[1])
    assert_equal [1, 2, 1, 2], numbers
    be_ready(@started[3])
    assert_equal [[:retire], [:retire]], @started.first(2).map(&:said)
    assert_empty @started[0].signals
  end

  # A child that hangs does not count as a failed start.
  def test_no_pause_follows_a_child_that_hangs
    serve(1, pause: 30)
    5.times { |count| @started.last.tap { |process| say(:emptied, by: process) && be_ready(@started[count + 1]) } }
    assert_equal [1] * 6, numbers
  end

  private

  # Starts `count` workers, lets all of them hang, and waits until new workers have replaced them.
  def hang(count)
    serve(count)
    say(:hung)
    be_ready(*@started.last(count))
  end
end
