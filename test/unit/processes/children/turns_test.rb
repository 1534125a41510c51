# frozen_string_literal: true

require "test_helper"
require_relative "../../support/workers/workers_case"

# Tests the replacement of workers one after the other.
class ChildrenTurnsTest < Support::TestCase
  include WorkersCase

  def test_the_second_child_that_asks_to_leave_waits_until_the_first_has_ended
    serve(2)
    first, second = @started
    say(:leave, by: first)
    be_ready(@started[2])
    say(:leave, by: second)
    3.times { @workers.tick }
    assert_equal [1, 2, 1], numbers
    let_end(first)
    assert_equal [1, 2, 1, 2], numbers
    be_ready(@started[3])
    assert_equal [:retire], second.said
  end

  def test_all_children_are_renewed_slowly_and_never_two_at_once
    serve(3)
    @workers.renew_slowly
    @workers.tick
    3.times do |turn|
      assert_equal 4, @started.size - @started.count(&:over?)
      be_ready(@started.last)
      assert_equal [:retire], @started[turn].said
      let_end(@started[turn])
    end
    assert_equal [1, 2, 3, 1, 2, 3], numbers
    assert_equal %i[restart restart restart], @gone.map(&:cause)
  end

  def test_a_child_that_ends_before_its_turn_is_skipped
    serve(3)
    @workers.renew_slowly
    @workers.tick
    be_ready(@started[3])
    let_end(@started[1], :die, "KILL")
    be_ready(@started[4])
    let_end(@started[0])
    assert_equal [1, 2, 3, 1, 2, 3], numbers
    be_ready(@started[5])
    assert_equal [:retire], @started[2].said
  end

  def test_no_other_child_is_replaced_while_a_replacement_fails
    serve(2)
    @workers.renew_slowly
    @workers.tick
    2.times do |turn|
      let_end(@started.last, :exit, 3)
      pass_time(2**turn)
    end
    assert_equal [1, 2, 1, 1, 1], numbers
    @started.first(2).each { |process| assert_serves process }
  end

  # The first cause counts.
  def test_a_child_says_why_it_asks_to_leave
    { max_requests: :max_requests, max_worker_age: :max_worker_age, max_worker_memory: :max_worker_memory,
      signal: :signal, application: :application, crashed: :descriptors }.each do |word, cause|
      serve(1)
      say(word, :leave, by: @started.last)
      assert_equal cause, child_of(@started[-2]).cause
      @workers.renew
      assert_equal cause, child_of(@started[-2]).cause
    end
  end
end
