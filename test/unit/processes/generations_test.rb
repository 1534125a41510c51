# frozen_string_literal: true

require "test_helper"
require_relative "../support/generations_case"

# Tests when a new generation replaces the former generation. A generation is a master with its workers. It is whole
# when all its workers are ready.
class GenerationsTest < Support::TestCase
  include GenerationsCase

  # Is ready when it has heard :go twice.
  TWICE = lambda do |channel|
    channel.say(:loaded)
    words = []
    words.concat(channel.hear) while words.size < 2 && (words - [:go]).empty? && channel.to_io.wait_readable
    channel.say(:ready)
    UNTIL_TOLD.call(channel)
    0
  end

  def test_the_former_generation_serves_until_the_next_one_is_whole
    begin_with(WHOLE, PARTIAL)
    mind_until { @started[1].reached?(:ready) }
    refute_predicate @started[0], :leaving?
    Process.kill("USR1", @started[1].pid)
    mind_until { gone?(@started[0]) }
    pass_time(LIMIT)
    @keeper.tick
    refute_predicate @started[1], :leaving?
  end

  def test_a_generation_that_is_not_whole_in_time_is_stopped_and_the_former_one_stays
    begin_with(WHOLE, PARTIAL)
    mind_until { @started[1].reached?(:ready) }
    pass_time(LIMIT - 1)
    @keeper.tick
    refute_predicate @started[1], :leaving?
    pass_time(1)
    mind_until { gone?(@started[1]) && logged.include?("has left") }
    assert_log(/error .* master \(pid #{@started[1].pid}\) did not get all of its workers ready within #{LIMIT} s: /)
    pass_time(LIMIT)
    @keeper.tick
    assert_equal 2, @started.size
    assert_alive @started[0]
  end

  def test_a_generation_that_is_held_has_no_time_limit
    held = nil
    begin_with(WHOLE, WHOLE, surge: ->(child) { child == @started[0] ? 0 : held = :hold })
    mind_until { held }
    pass_time(LIMIT)
    @keeper.tick
    refute_predicate @started[1], :leaving?
    @keeper.take_back(@started[1], "has too many errors")
    mind_until { gone?(@started[1]) }
    assert_alive @started[0]
  end

  def test_time_while_this_process_is_frozen_does_not_count
    begin_with(WHOLE, PARTIAL)
    mind_until { @started[1].reached?(:ready) }
    be_stopped(3600)
    pass_time(LIMIT / 2)
    @keeper.tick
    refute_predicate @started[1], :leaving?
    pass_time(LIMIT / 2)
    mind_until { gone?(@started[1]) }
  end

  def test_a_generation_that_does_not_load_in_time_is_stopped_as_well
    begin_with(WHOLE, LOADING)
    pass_time(LIMIT)
    mind_until { gone?(@started[1]) }
    assert_alive @started[0]
  end

  # A generation that was not whole in time does not count as a failed child, so no pause follows.
  def test_the_next_renewal_tries_again
    begin_with(WHOLE, PARTIAL, WHOLE)
    pass_time(LIMIT)
    mind_until { @started[1].leaving? }
    @keeper.renew
    mind_until { @started.size == 3 && gone?(@started[0]) }
    assert_alive @started[2]
  end

  def test_a_renewal_replaces_a_generation_that_is_not_whole_yet
    begin_with(WHOLE, PARTIAL, PARTIAL)
    mind_until { @started[1].reached?(:ready) }
    @keeper.renew
    mind_until { gone?(@started[1]) && @started.size == 3 && @started[2].reached?(:ready) }
    refute_predicate @started[0], :leaving?
    Process.kill("USR1", @started[2].pid)
    mind_until { gone?(@started[0]) }
  end

  def test_a_former_generation_that_stayed_is_replaced_when_it_ends
    begin_with(WHOLE, PARTIAL, WHOLE)
    pass_time(LIMIT)
    mind_until { gone?(@started[1]) }
    Process.kill("KILL", @started[0].pid)
    mind_until { @started.size == 3 && @started[2].reached?(:whole) }
    assert_alive @started[2]
  end

  def test_a_generation_without_a_former_one_has_no_limit
    begin_with(WHOLE, PARTIAL)
    mind_until { @started[1].reached?(:ready) }
    Process.kill("KILL", @started[0].pid)
    mind_until { gone?(@started[0]) && logged.include?("has left") }
    pass_time(LIMIT)
    2.times { @keeper.tick }
    refute_predicate @started[1], :leaving?
    assert_alive @started[1]
  end

  # So its workers need not wait for each other any longer.
  def test_a_master_hears_go_again_when_its_former_generation_has_gone
    begin_with(WHOLE, TWICE)
    @keeper.go
    mind_until { @started[1].reached?(:loaded) }
    Process.kill("KILL", @started[0].pid)
    mind_until { @started[1].reached?(:ready) }
    assert_alive @started[1]
  end

  def test_a_stop_ends_both_generations
    begin_with(WHOLE, PARTIAL)
    mind_until { @started[1].reached?(:ready) }
    @keeper.stop(:drain)
    mind_until { @keeper.empty? }
    assert_equal 2, @started.size
  end

  def test_the_callbacks_get_each_master_that_is_loaded_or_whole
    seen = []
    begin_with(WHOLE, WHOLE, loaded: ->(child) { seen << [:loaded, child] },
                             whole: ->(child) { seen << [:whole, child] })
    mind_until { gone?(@started[0]) }
    assert_equal(@started.flat_map { |child| [[:loaded, child], [:whole, child]] }, seen)
  end

  def test_the_limit_is_the_time_for_a_worker_to_become_ready
    { 60 => 60, 0 => Float::INFINITY }.each do |timeout, expected|
      assert_equal expected, Bontebok::Generations.limit(Struct.new(:boot_seconds).new(timeout))
    end
  end
end
