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

  Master = Struct.new(:pid, :workers)

  # The part of Deploy that Steps uses.
  class Deploy
    include Bontebok::Deploy::Steps

    Config = Struct.new(:seconds) do
      def [](_key) = 0
      def seconds(_key) = 1000
    end

    def count(present) = present

    # Has told its master how many workers it starts: two, or one if there is a canary.
    def initialize(canary = nil)
      @config = Config.new
      @on_trial = true
      @canary = canary
      @report = DeployStepsTest::Report.new
      first_workers(2, 2)
    end
  end

  def setup
    @master = Master.new(0, 2)
    @deploy = Deploy.new
    @deploy.surge(@master, 2) # it is held
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
    assert_equal 0, @deploy.surge(@master, 2)
  end

  # The supervisor was late, and reads all this at once.
  def test_without_a_former_generation_one_that_is_whole_again_is_good
    @deploy.note_crash
    assert_equal :hold, @deploy.surge(@master, 2)
    assert_good_without_former(@deploy)
  end

  def test_without_a_former_generation_one_that_had_a_crash_before_it_was_whole_is_good
    deploy = Deploy.new
    deploy.note_crash
    assert_equal :hold, deploy.surge(@master, 2)
    assert_good_without_former(deploy)
  end

  def test_without_a_former_generation_a_canary_that_had_a_crash_starts_the_other_workers
    deploy = Deploy.new(Canary.new)
    @master.workers = 1
    deploy.note_crash
    assert_equal :hold, deploy.surge(@master, 2)
    deploy.end_trial
    assert_equal :good, deploy.judge
    assert_equal [1, 0], deploy.surge(@master, 2)
    @master.workers = 2
    deploy.end_trial
    assert_equal 0, deploy.surge(@master, 2)
  end

  def test_a_crash_counts_even_if_the_supervisor_reads_it_after_the_trial
    Bontebok::Clock.stub(:now, Bontebok::Clock.now + 2000) do
      @deploy.note_crash
      assert_equal :hold, @deploy.surge(@master, 2)
      assert_equal :crashed, @deploy.judge
    end
  end

  # The master had one worker when a signal removed two of four, so it still has one.
  def test_the_number_of_workers_changes_while_a_part_of_them_runs
    deploy = Deploy.new(Canary.new)
    deploy.end_trial
    @master.workers = 1
    assert_equal [1, 0], deploy.surge(@master, 2)
    @master.workers = 3
    assert_equal 0, deploy.surge(@master, 2)
  end

  private

  def assert_good_without_former(deploy)
    deploy.end_trial
    assert_equal :good, deploy.judge
    assert_equal 0, deploy.surge(@master, 2)
  end
end
