# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/processes/master/progress"

# Tests which steps of a generation a master reports, and when the generation fails.
class ProgressTest < Support::TestCase
  # The Children. step: what all of them have reached. failed: all have failed.
  class Workers
    STEPS = [nil, :loaded, :ready].freeze

    attr_accessor :step, :failed, :missing, :hopeless, :waiting, :together, :size
    attr_reader :orders

    def initialize
      @orders = []
      @size = 2
    end

    def settled?(step) = failed || reached?(step)
    def any?(step) = reached?(step)
    def whole? = !missing && reached?(:ready)
    def waiting? = waiting

    %i[go stop resume renew more fewer].each do |order|
      define_method(order) { |*arguments| @orders << [order, *arguments] }
    end

    private

    def reached?(step) = STEPS.index(@step) >= STEPS.index(step)
  end

  # A Channel.
  Channel = Struct.new(:words) do
    def say(word) = words << word
  end
  # A Log.
  Log = Struct.new(:texts) do
    def warn(text) = texts << text
    alias_method :error, :warn
    def dismiss_witness = texts << :dismissed
  end

  def setup
    @workers = Workers.new
    @channel = Channel.new([])
    @log = Log.new([])
    @notes = []
  end

  def test_each_step_is_reported_once
    progress = make
    progress.tick
    assert_equal [[], false], [words, progress.loaded?]
    reach(:loaded) { progress.tick }
    assert_equal [[:loaded], true, nil], [words, progress.loaded?, progress.booted?]
    reach(:ready) { 2.times { progress.tick } }
    assert_equal [%i[loaded ready whole], [:ready], true], [words, @notes, progress.booted?]
  end

  def test_a_generation_becomes_whole_again
    progress = make
    reach(:ready) { 2.times { progress.tick } }
    @workers.missing = true
    progress.tick
    @workers.missing = false
    progress.tick
    assert_equal %i[loaded ready whole whole], words
  end

  # The supervisor awaits :whole after each :more (deploy_surge), and a user may remove the worker at once.
  def test_a_generation_that_grows_becomes_whole_again_also_if_it_shrinks_at_once
    progress = make
    reach(:ready) { progress.tick }
    progress.change(:more)
    progress.change(:fewer)
    2.times { progress.tick }
    assert_equal %i[loaded ready whole whole], words
  end

  def test_a_generation_that_grows_before_it_is_whole_says_it_once
    progress = make
    progress.change(:more)
    reach(:ready) { 2.times { progress.tick } }
    assert_equal %i[loaded ready whole], words
  end

  def test_a_generation_without_a_worker_fails
    progress = make
    @workers.failed = true
    progress.tick
    assert_equal [[:failed], [:failed], ["no worker became ready"]], [words, @notes, @log.texts]
    assert_predicate progress, :failed?
  end

  def test_a_generation_on_trial_fails_with_one_hopeless_number
    progress = make(trial: 2)
    assert_equal [true, true], [@workers.together, progress.trial?]
    @workers.hopeless = 2
    progress.tick
    assert_equal [:failed], words
    assert_equal ["worker 2 has ended before it was ready, twice in a row"], @log.texts
  end

  def test_the_trial_ends_when_all_workers_are_ready_or_nobody_else_serves
    progress = make(trial: 2)
    reach(:ready) { progress.tick }
    assert_equal [false, false], [progress.trial?, @workers.together]
    progress = make(trial: 2)
    called = 0
    2.times { progress.go { called += 1 } }
    assert_equal [1, [[:go]], false], [called, @workers.orders, progress.trial?]
  end

  # The command that waits for the deploy hears of workers that end soon.
  def test_the_witness_is_dismissed_after_the_silence
    progress = make(trial: 2)
    Bontebok::Clock.stub(:now, 100) { reach(:ready) { progress.tick } }
    assert_equal 105, progress.deadline
    Bontebok::Clock.stub(:now, 104) { progress.tick }
    refute_includes @log.texts, :dismissed
    Bontebok::Clock.stub(:now, 105) { progress.tick }
    assert_equal [[:dismissed], nil], [@log.texts, progress.deadline]
  end

  def test_a_parked_generation_reports_nothing_until_it_begins_again
    progress = make
    reach(:ready) { progress.tick }
    words.clear
    progress.park
    progress.tick
    assert_equal [[], [%i[stop retire]]], [words, @workers.orders]
    progress.begin_again
    progress.tick
    assert_equal [%i[loaded ready whole], [:resume]], [words, @workers.orders.last]
  end

  def test_a_generation_that_ends_only_says_that_it_waits
    [make, make.tap(&:park)].each do |progress|
      words.clear
      @workers.orders.clear
      progress.end
      progress.change(:renew)
      reach(:ready) { progress.tick }
      assert_equal [[], []], [words, @workers.orders]
      @workers.waiting = true
      2.times { progress.tick }
      assert_equal [:waits], words
      @workers.waiting = false
    end
  end

  private

  def words = @channel.words

  def reach(step)
    @workers.step = step
    yield
  end

  def make(trial: 0)
    generation = trial.zero? ? 1 : 2
    Bontebok::Progress.new(@workers, @channel, generation: generation, trial: trial, canary: false, silence: 5,
                                               log: @log) { |note| @notes << note }
  end
end
