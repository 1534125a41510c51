# frozen_string_literal: true

require "test_helper"
require_relative "../support/generations_case"

# Tests how long the former master stays loaded (keep_former).
class GenerationsKeepingTest < Support::TestCase
  include GenerationsCase

  # Serves until it is told to end.
  PARKABLE = lambda do |channel|
    %i[loaded ready whole].each { |word| channel.say(word) }
    channel.to_io.wait_readable until channel.hear.intersect?(%i[retire drain quit closed])
    0
  end

  def test_the_former_master_stays_loaded_if_the_next_deploy_fails
    keep_first(FAILING)
    mind_until { gone?(@started[2]) && logged.include?("the deploy has failed") }
    assert_same @started[0], @keeper.roll_back
  end

  def test_the_next_deploy_that_takes_effect_ends_the_former_master
    keep_first(PARKABLE)
    mind_until { gone?(@started[0]) }
    assert_same @started[1], @keeper.roll_back
  end

  def test_a_deploy_that_keeps_nothing_ends_the_former_master_too
    seconds = [600, 0]
    keep_first(PARKABLE, keep: ->(_) { seconds.shift })
    mind_until { gone?(@started[0]) && gone?(@started[1]) }
    refute_predicate @keeper, :keeps?
  end

  # With deploy_surge, the former master has one worker of four left when the deploy fails.
  [4, 2, 1].each do |wanted|
    define_method("test_the_former_master_gets_#{wanted}_workers_if_so_many_are_wanted_when_the_deploy_fails") do
      numbers = [4, wanted]
      begin_with(PARKABLE, PARKABLE, surge: ->(child) { child == @started[0] ? 0 : [1, 3] },
                                     workers: -> { numbers.shift })
      mind_until { @started[0].workers == 1 }
      Process.kill("KILL", @started[1].pid)
      mind_until { logged.include?("the deploy has failed") }
      assert_equal wanted, @started[0].workers
    end
  end

  # The master is frozen, or busy in a hook: it does not hear :park. It has 65 s.
  def test_a_former_master_whose_workers_do_not_leave_ends
    begin_with(PARKABLE, PARKABLE, keep: ->(_) { 600 }, serves: ->(child) { child == @started[0] })
    mind_until { @keeper.keeps? }
    pass_time(64)
    @keeper.tick
    assert_predicate @keeper, :keeps?
    pass_time(1)
    mind_until { gone?(@started[0]) }
    refute_predicate @keeper, :keeps?
    assert_log(/ error .* master \(pid #{@started[0].pid}\) did not let its workers leave within 65 s: killed$/)
  end

  private

  # Keeps the first master after a deploy, and begins another deploy.
  def keep_first(behaviour, keep: ->(_) { 600 })
    begin_with(PARKABLE, PARKABLE, behaviour, keep: keep)
    mind_until { @keeper.keeps? }
    @keeper.renew
    mind_until { @started.size == 3 }
    assert_alive @started[0]
  end
end
