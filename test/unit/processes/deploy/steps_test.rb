# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/deploy/steps"

# Tests when a new generation that is held takes effect.
class DeployStepsTest < Support::TestCase
  # The part of Deploy that Steps uses.
  class Deploy
    include Bontebok::Deploy::Steps

    Config = Struct.new(:seconds) do
      def [](_key) = 0
      def seconds(_key) = 1000
    end

    def count(present) = present

    # Has started its workers, and is held.
    def initialize
      @config = Config.new
      @on_trial = true
      first_workers(2, 2)
      surge(0)
    end
  end

  def setup
    @deploy = Deploy.new
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
end
