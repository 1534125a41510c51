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
  # A master without a worker that became ready. It ends when the test sends USR1.
  FAILED = lambda do |channel|
    Signal.trap("USR1") { exit!(1) }
    %i[loaded failed waits].each { |word| channel.say(word) }
    sleep
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
    assert_log(/error .* master \(pid #{@started[1].pid}\) did not get all of its workers ready within #{LIMIT} s: /)
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

  # With the limit, the deploy ends at once; the failed master is not started again.
  def test_a_master_that_fails_ends_the_deploy_and_the_former_one_stays
    begin_with(WHOLE, FAILING)
    mind_until { gone?(@started[1]) && logged.include?("the former master continues") }
    pass_time(LIMIT)
    2.times { @keeper.tick }
    assert_equal 2, @started.size
    assert_alive @started[0]
  end

  # As in a rollback: requests and hijacked connections from before the deploy go on.
  def test_a_master_that_reports_its_failure_ends_the_deploy_and_gets_the_time_to_end
    begin_with(WHOLE, FAILED, failed: ->(*failure) { @failure = failure })
    mind_until { @failure && @started[1].waiting? }
    assert_equal [@started[1], "the new master got no worker ready"], @failure
    assert_log(/error .* master \(pid #{@started[1].pid}\) got no worker ready: it is stopped/)
    Process.kill("USR1", @started[1].pid)
    mind_until { gone?(@started[1]) }
    assert_alive @started[0]
    assert_equal 2, @started.size
  end

  # The time limit of the master that has failed must not end the wait for the next master.
  def test_the_next_deploy_after_a_failure_replaces_the_former_master
    begin_with(WHOLE, FAILING, PARTIAL)
    mind_until { gone?(@started[1]) && logged.include?("the former master continues") }
    pass_time(LIMIT / 2)
    @keeper.renew
    mind_until { @started[2]&.reached?(:ready) }
    pass_time(LIMIT / 2)
    @keeper.tick
    Process.kill("USR1", @started[2].pid)
    mind_until { gone?(@started[0]) }
    refute_predicate @started[2], :leaving?
  end

  def test_a_master_whose_listeners_cannot_listen_ends_the_deploy
    begin_with(WHOLE, WHOLE, loaded: ->(child) { child.equal?(@started[0]) })
    mind_until { gone?(@started[1]) }
    assert_log(/error .* master \(pid #{@started[1].pid}\) cannot listen: it is stopped/)
    assert_alive @started[0]
  end

  def test_the_callbacks_get_each_master_that_is_loaded_or_whole
    seen = []
    begin_with(WHOLE, WHOLE, loaded: ->(child) { seen << [:loaded, child] },
                             whole: ->(child) { seen << [:whole, child] })
    mind_until { gone?(@started[0]) }
    assert_equal(@started.flat_map { |child| [[:loaded, child], [:whole, child]] }, seen)
  end

  def test_the_limit_is_the_deploy_timeout
    { 60 => 60, 0 => Float::INFINITY }.each do |timeout, expected|
      config = Struct.new(:seconds).new(timeout)
      def config.seconds(_) = super()
      assert_equal expected, Bontebok::Generations.limit(config)
    end
  end

  private

  # Starts the first generation, waits until it is whole, and starts the next generation.
  def begin_with(*behaviours, **calls)
    @keeper = Bontebok::Generations.new(limit: LIMIT, pause: 60, grace: 5, log: Bontebok::Log.new(@writer), **calls) do
      behaviour = behaviours.fetch(@started.size)
      @started << Bontebok::Child.fork(1, to_close: [@events], &behaviour)
      @started.last
    end
    mind_until { @keeper.any?(:whole) }
    @keeper.renew
    mind_until { @started.size == 2 }
  end
end
