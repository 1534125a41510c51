# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/generations/generation"
require "bontebok/processes/generations/rollout"
require_relative "../../support/generations/stopped_clock"

# Tests in which steps a new generation starts its workers, and when it is held and judged.
class RolloutTest < Support::TestCase
  include StoppedClock

  PROOF = 1000
  PID = 101
  Config = Struct.new(:workers, :surge) do
    def [](key) = { deploy_surge: surge }.fetch(key)
    def seconds(key) = { err_respawn_interval: PROOF }.fetch(key)
    def auto_workers? = false
  end
  Report = Struct.new(:told) do
    def say(text) = told << text
  end
  Listeners = Struct.new(:worker_links)

  # The verdict is the test's.
  class Canary
    attr_accessor :deadline, :verdict, :begun

    def initialize(count) = @count = count
    attr_reader :count

    def table = "the table"

    def begin(*arguments)
      @begun = arguments
      @deadline = Bontebok::Clock.now + 5
    end
  end

  # --- steps ---

  def test_without_deploy_surge_all_workers_start_at_once
    rollout = make
    assert_equal [4, :hold], [rollout.first, rollout.step(4, 4, PID)]
  end

  # One former worker stays until the end.
  def test_with_deploy_surge_as_many_former_workers_leave_as_new_ones_are_ready
    rollout = make(surge: 3, workers: 8)
    assert_equal 3, rollout.first
    assert_equal([[3, 3], [2, 3], :hold], [3, 6, 8].map { |told| rollout.step(told, 8, PID) })
    rollout = make(surge: 2, former: 1) # it is superseded, and serves alone
    assert_equal([[2, 0], :hold], [2, 4].map { |told| rollout.step(told, 4, PID) })
    assert_equal 4, make(surge: 9).first
  end

  def test_a_canary_starts_its_workers_and_then_the_others
    rollout = make(canary: canary = Canary.new(1))
    assert_equal [1, :hold], [rollout.first, rollout.step(1, 4, PID)]
    assert_equal [[PID, :links], ["generation 2: 1 of 4 workers serve beside the former ones"]],
                 [canary.begun, @report.told]
    assert_equal [:hold, 1], [rollout.step(1, 4, PID), @report.told.size]
    canary.verdict = :good
    pass_time(5)
    assert_equal [:good, [3, 0], :hold], [rollout.judge, rollout.step(1, 4, PID), rollout.step(4, 4, PID)]
  end

  # The master had one worker when a signal removed two of four, so it still has one.
  def test_the_number_of_workers_changes_while_a_part_of_them_runs
    rollout = make(workers: 2, canary: Canary.new(1))
    rollout.end_trial
    assert_equal [[1, 0], :whole], [rollout.step(1, 2, PID), rollout.step(3, 2, PID)]
  end

  # --- judgement ---

  def test_a_generation_proves_itself_for_some_time
    rollout = held
    assert_equal [now + PROOF, nil], [rollout.deadline, rollout.judge]
    pass_time(PROOF)
    assert_equal [:good, :whole, nil, nil], [rollout.judge, rollout.step(4, 4, PID), rollout.deadline, rollout.failure]
  end

  def test_a_generation_that_nobody_would_stay_for_proves_nothing
    rollout = make(on_trial: false)
    rollout.note_crash
    assert_equal :whole, rollout.step(4, 4, PID)
  end

  # [status of the command, with a canary]
  { bad: 4, few: 5, unknown: nil }.each do |verdict, status|
    define_method("test_a_canary_whose_verdict_is_#{verdict}") do
      rollout = make(canary: canary = Canary.new(1))
      rollout.step(1, 4, PID)
      assert_nil rollout.judge
      assert_equal now + 5, rollout.deadline
      pass_time(5)
      assert_nil rollout.judge # the canary needs more time
      canary.verdict = verdict
      assert_equal [verdict, [status], "the table"], [rollout.judge, [rollout.failure], @report.told.last]
    end
  end

  def test_a_crash_ends_the_generation_that_is_held
    rollout = held
    rollout.note_crash
    assert_equal [now, :crashed, 1, nil], [rollout.deadline, rollout.judge, rollout.failure, rollout.deadline]
  end

  def test_a_crash_is_a_bad_sign_of_a_canary
    rollout = make(canary: Canary.new(1))
    rollout.step(1, 4, PID)
    rollout.note_crash
    assert_equal [:crashed, 4, "the table"], [rollout.judge, rollout.failure, @report.told.last]
  end

  def test_a_crash_counts_even_if_the_supervisor_reads_it_after_the_trial
    rollout = held
    pass_time(2 * PROOF)
    rollout.note_crash
    assert_equal %i[hold crashed], [rollout.step(4, 4, PID), rollout.judge]
  end

  # It was good with six workers. A signal has removed one, and a new one starts.
  def test_a_crash_counts_while_a_generation_that_was_good_starts_another_worker
    rollout = make(workers: 6)
    rollout.step(6, 6, PID)
    pass_time(PROOF)
    assert_equal [:good, [1, 0]], [rollout.judge, rollout.step(5, 6, PID)]
    rollout.note_crash
    assert_equal %i[hold crashed], [rollout.step(6, 6, PID), rollout.judge]
  end

  # --- no former generation serves any more ---

  def test_without_a_former_generation_the_one_that_is_held_is_good
    rollout = held
    assert_nil rollout.judge
    assert_good_without_former(rollout)
  end

  # The workers of the former generation must not leave before.
  def test_without_a_former_generation_a_crash_holds_the_generation_until_it_is_whole
    rollout = held
    rollout.note_crash
    2.times { rollout.end_trial }
    assert_nil rollout.judge
    assert_equal :whole, rollout.step(4, 4, PID)
  end

  # The supervisor was late, and reads all this at once.
  def test_without_a_former_generation_one_that_is_whole_again_is_good
    rollout = held
    rollout.note_crash
    assert_equal :hold, rollout.step(4, 4, PID)
    assert_good_without_former(rollout)
  end

  def test_without_a_former_generation_one_that_had_a_crash_before_it_was_whole_is_good
    rollout = make
    rollout.note_crash
    assert_equal :hold, rollout.step(4, 4, PID)
    assert_good_without_former(rollout)
  end

  def test_without_a_former_generation_a_canary_that_had_a_crash_starts_the_other_workers
    rollout = make(canary: Canary.new(1))
    rollout.note_crash
    assert_equal :hold, rollout.step(1, 4, PID)
    rollout.end_trial
    assert_equal ["no former master serves: the canary is not judged"], @report.told
    assert_equal [:good, [3, 0]], [rollout.judge, rollout.step(1, 4, PID)]
    rollout.end_trial
    assert_equal [:whole, 1], [rollout.step(4, 4, PID), @report.told.size]
  end

  private

  def make(workers: 4, surge: 0, former: workers, **options)
    config = Config.new(workers, surge)
    setup = Bontebok::Generation::Setup.new(2, nil, config, Listeners.new(:links))
    @report = Report.new([])
    Bontebok::Rollout.new(setup, present: workers, former: former, former_config: config, report: @report, **options)
  end

  # All its workers are ready.
  def held = make.tap { |rollout| rollout.step(4, 4, PID) }

  def assert_good_without_former(rollout)
    rollout.end_trial
    assert_equal %i[good whole], [rollout.judge, rollout.step(4, 4, PID)]
  end
end
