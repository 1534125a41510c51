# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "bontebok/processes/deploy/steps"

# Tests when a new generation that is held takes effect.
class DeployStepsTest < Support::TestCase
  Report = Struct.new(:told) do
    def say(text) = self.told = text
  end
  # Has one worker.
  class Canary
    def count = 1
    def deadline = nil
  end

  # The part of Deploy that Steps uses.
  class Deploy
    include Bontebok::Deploy::Steps

    Config = Struct.new(:seconds) do
      def [](_key) = 0
      def seconds(_key) = 1000
    end

    def count(present) = present

    # Has started its workers.
    def initialize(canary = nil)
      @config = Config.new
      @on_trial = true
      @canary = canary
      @report = DeployStepsTest::Report.new
      first_workers(2, 2)
    end
  end

  def setup
    @deploy = Deploy.new
    @deploy.surge(0) # it is held
  end

  def test_a_crash_ends_the_generation_that_is_held
    @deploy.note_crash
    assert_equal :crashed, @deploy.judge
  end

  def test_without_a_former_generation_the_one_that_is_held_is_good
    assert_nil @deploy.judge
    @deploy.end_trial
    assert_equal :good, @deploy.judge
  end

  # The workers of the former generation must not leave before.
  def test_without_a_former_generation_a_crash_holds_the_generation_until_it_is_whole
    @deploy.note_crash
    2.times { @deploy.end_trial }
    assert_nil @deploy.judge
    assert_equal 0, @deploy.surge(0)
  end

  # The supervisor was late, and reads all this at once.
  def test_without_a_former_generation_one_that_is_whole_again_is_good
    @deploy.note_crash
    assert_equal :hold, @deploy.surge(0)
    assert_good_without_former(@deploy)
  end

  def test_without_a_former_generation_one_that_had_a_crash_before_it_was_whole_is_good
    deploy = Deploy.new
    deploy.note_crash
    assert_equal :hold, deploy.surge(0)
    assert_good_without_former(deploy)
  end

  def test_without_a_former_generation_a_canary_that_had_a_crash_starts_the_other_workers
    deploy = Deploy.new(Canary.new)
    deploy.note_crash
    assert_equal :hold, deploy.surge(0)
    deploy.end_trial
    assert_equal :good, deploy.judge
    assert_equal [1, 0], deploy.surge(0)
    deploy.end_trial
    assert_equal 0, deploy.surge(0)
  end

  def test_a_crash_counts_even_if_the_supervisor_reads_it_after_the_trial
    Bontebok::Clock.stub(:now, Bontebok::Clock.now + 2000) do
      @deploy.note_crash
      assert_equal :hold, @deploy.surge(0)
      assert_equal :crashed, @deploy.judge
    end
  end

  private

  def assert_good_without_former(deploy)
    deploy.end_trial
    assert_equal :good, deploy.judge
    assert_equal 0, deploy.surge(0)
  end
end
