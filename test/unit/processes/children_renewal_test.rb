# frozen_string_literal: true

require "test_helper"
require_relative "../support/children_case"

# Tests the replacement of all children at the same time.
class ChildrenRenewalTest < Support::TestCase
  include ChildrenCase

  # Never becomes ready. Exits with status 1 after TERM.
  LOADING_SLOWLY = lambda do |_channel|
    Signal.trap("TERM") { exit!(1) }
    sleep
  end

  def test_all_children_are_renewed_without_a_gap
    keep(2) { STEADY }
    mind_until { @keeper.settled?(:ready) }
    @keeper.renew
    assert_empty(@started.first(2).select { |child| gone?(child) })
    mind_until { @started.first(2).all? { |child| gone?(child) } }
    assert_equal [1, 2, 1, 2], @started.map(&:number)
  end

  def test_a_child_that_is_renewed_before_it_is_ready_serves_until_its_replacement_is_ready
    keep(1) { WAITING }
    mind_until { @keeper.settled?(:loaded) }
    @keeper.renew
    @started[0].channel.say(:go)
    mind_until { @started[0].reached?(:ready) && @keeper.settled?(:loaded) }
    refute_predicate @started[0], :leaving?
    @keeper.go
    mind_until { gone?(@started[0]) }
    assert_alive @started[1]
  end

  # A new child gets the number of the child that it replaces. After each renewal, each number has one child that serves
  # and one child that loads.
  def test_a_child_that_is_renewed_while_it_loads_ends_at_once
    keep(2) { @started.size < 2 ? STEADY : LOADING_SLOWLY }
    mind_until { @keeper.settled?(:ready) }
    3.times do |turn|
      @keeper.renew
      mind_until { @started.size == 4 + (2 * turn) && @started[2...-2].all? { |child| gone?(child) } }
    end
    @started.first(2).each { |child| assert_alive child }
    mind_until { logged.scan("has left").size == 4 }
    refute_match(/ warn /, logged)
    assert_log(/worker 1 \(pid #{@started[2].pid}\) is replaced before it was ready$/)
  end

  def test_a_child_that_is_renewed_while_it_loads_ends_at_once_even_if_no_child_serves
    keep(1) { LOADING_SLOWLY }
    mind_until { @started.size == 1 }
    @keeper.renew
    mind_until { gone?(@started[0]) && @started.size == 2 }
    assert_alive @started[1]
  end

  def test_a_loaded_child_that_is_renewed_ends_if_another_child_of_its_number_may_serve
    keep(1) { WAITING }
    mind_until { @keeper.settled?(:loaded) }
    2.times do |turn|
      @keeper.renew
      mind_until { @started.size == 2 + turn && @started.last.reached?(:loaded) }
    end
    mind_until { gone?(@started[1]) }
    assert_alive @started[0]
    @keeper.go
    mind_until { gone?(@started[0]) }
    assert_alive @started[2]
  end
end
