# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/generations"
require_relative "../support/children_case"

# Tests when a new generation replaces the former generation. A generation is a master with its workers. It is whole
# when all its workers are ready.
class GenerationsTest < Support::TestCase
  include ChildrenCase

  # A master with some ready workers. When the test sends USR1, all workers of this master are ready.
  PARTIAL = lambda do |channel|
    Signal.trap("USR1") { channel.say(:whole) }
    STEADY.call(channel)
  end
  WHOLE = lambda do |channel|
    %i[loaded ready whole].each { |word| channel.say(word) }
    channel.to_io.wait_readable
    0
  end
  LIMIT = 60

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
    assert_log(/error .* master \(pid #{@started[1].pid}\) did not get all of its workers ready within #{LIMIT} s/)
    pass_time(LIMIT)
    @keeper.tick
    assert_equal 2, @started.size
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

  def test_a_stop_ends_both_generations
    begin_with(WHOLE, PARTIAL)
    mind_until { @started[1].reached?(:ready) }
    @keeper.stop(:drain)
    mind_until { @keeper.empty? }
    assert_equal 2, @started.size
  end

  def test_the_limit_is_the_boot_timeout_plus_the_spawn_intervals
    config = Struct.new(:times) { def seconds(name) = times.fetch(name) }
    seconds = { err_respawn_interval: 1, graceful_timeout: 30, hijack_timeout: 30, worker_boot_timeout: 60,
                spawn_interval: 2 }
    { 60 => 66, 0 => Float::INFINITY }.each do |boot, expected|
      settings = config.new(seconds.merge(worker_boot_timeout: boot))
      generations = Bontebok::Generations.of(settings, -> { 4 }, nil, ended: nil) { flunk }
      assert_equal expected, generations.instance_variable_get(:@limit).call
    end
  end

  private

  # Starts the first generation, waits until it is whole, and starts the next generation.
  def begin_with(*behaviours)
    @keeper = Bontebok::Generations.new(limit: -> { LIMIT }, pause: 60, grace: 5, log: Bontebok::Log.new(@writer)) do
      behaviour = behaviours.fetch(@started.size)
      @started << Bontebok::Child.fork(1, to_close: [@events], &behaviour)
      @started.last
    end
    mind_until { @keeper.any?(:whole) }
    @keeper.renew
    mind_until { @started.size == 2 }
  end
end
