# frozen_string_literal: true

require "test_helper"
require_relative "../../support/workers/workers_case"

# Tests the replacement of all workers at the same time.
class ChildrenRenewalTest < Support::TestCase
  include WorkersCase

  def test_all_children_are_renewed_without_a_gap
    serve(2)
    renew
    assert_equal [1, 2, 1, 2], numbers
    be_ready(@started[2])
    assert_equal [[:retire], []], @started.first(2).map(&:said)
    be_ready(@started[3])
    assert_equal [[:retire], [:retire]], @started.first(2).map(&:said)
    @started.first(2).each { |process| let_end(process) }
    assert_equal %i[restart restart], @gone.map(&:cause)
    assert_predicate @workers, :whole?
  end

  def test_a_child_that_is_renewed_before_it_is_ready_serves_until_its_replacement_is_ready
    keep(1)
    say(:loaded)
    renew
    say(:ready, by: @started[0])
    say(:loaded, by: @started[1])
    assert_serves @started[0]
    @workers.go
    say(:ready, by: @started[1])
    assert_equal [:retire], @started[0].said
    assert_serves @started[1]
  end

  # A new child gets the number of the child that it replaces. After each renewal, each number has one child that serves
  # and one child that loads.
  def test_a_child_that_is_renewed_while_it_loads_ends_at_once
    serve(2)
    renew
    3.times do
      loading = @started.last(2)
      renew
      loading.each do |process|
        assert_equal [[:retire], [:TERM]], [process.said, process.signals]
        let_end(process, :exit, 1)
      end
    end
    assert_equal [1, 2] * 5, numbers
    @started.first(2).each { |process| assert_serves process }
    assert_equal 6, @log.grep(/has left/).size
    refute_match(/^warn /, logged)
    assert_log "info worker 1 (pid 103) is replaced before it was ready"
  end

  def test_a_child_that_is_renewed_while_it_loads_ends_at_once_even_if_no_child_serves
    keep(1)
    renew
    assert_equal [:TERM], @started[0].signals
    assert_equal 2, @started.size
    assert_serves @started[1]
  end

  def test_a_loaded_child_that_is_renewed_ends_if_another_child_of_its_number_may_serve
    keep(1)
    say(:loaded)
    renew
    say(:loaded, by: @started[1])
    renew
    assert_equal [[], [:retire], []], @started.map(&:said)
    say(:loaded, by: @started[2])
    assert_serves @started[0]
    @workers.go
    say(:ready, by: @started[2])
    assert_equal %i[go retire], @started[0].said
    assert_serves @started[2]
  end

  private

  def renew
    @workers.renew
    @workers.tick
  end
end
