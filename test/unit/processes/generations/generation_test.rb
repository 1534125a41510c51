# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/generations/generation"
require_relative "../../support/generations/fake_process"
require_relative "../../support/generations/stopped_clock"

# Tests a generation: its states, and what it tells its master.
class GenerationTest < Support::TestCase
  include StoppedClock

  # Each state with each event. -: the event has no place, and changes nothing.
  EXPECTED = <<~TABLE
    state     loaded   ready    hold  more   whole  serve    keep  revive   fail    leave    lose  end
    started   loaded   -        -     -      -      -        -     -        failed  leaving  lost  ended
    loaded    -        ready    -     -      -      -        -     -        failed  leaving  lost  ended
    ready     -        -        held  ready  whole  -        kept  -        failed  leaving  lost  ended
    held      -        -        held  ready  whole  -        -     -        failed  leaving  lost  ended
    whole     -        -        -     -      whole  serving  kept  -        -       leaving  lost  ended
    serving   -        -        -     -      -      -        kept  -        -       leaving  lost  ended
    kept      -        -        -     -      -      -        -     started  -       leaving  lost  ended
    failed    failed   failed   -     -      -      -        -     -        -       failed   -     ended
    leaving   leaving  leaving  -     -      -      -        -     -        -       leaving  -     ended
    lost      -        -        -     -      -      -        -     -        -       lost     -     ended
    ended     -        -        -     -      -      -        -     -        -       -        -     -
  TABLE
  SERVING = %i[loaded ready whole serve].freeze
  STEPS = %i[loaded ready whole].freeze
  # The events that lead to a state.
  WAYS = {
    started: [], loaded: SERVING.first(1), ready: SERVING.first(2), held: [*SERVING.first(2), :hold],
    whole: SERVING.first(3), serving: SERVING, kept: [*SERVING, :keep], failed: %i[loaded fail],
    leaving: [:leave], lost: [:lose], ended: [:end]
  }.freeze

  def test_each_event_in_each_state
    (_, *events), *rows = EXPECTED.lines.map { |line| line.split.map(&:to_sym) }
    rows.each do |state, *expected|
      events.zip(expected) do |event, after|
        one = generation(state)
        after = nil if after == :-
        assert_equal [after, after || state], [one.change(event), one.state], "#{event} in #{state}"
      end
    end
    assert_equal [WAYS.keys, WAYS.keys], [rows.map(&:first), Bontebok::Generation::TABLE.keys]
  end

  def test_the_states_in_which_it_serves_or_leaves
    { serves?: %i[ready held whole serving], leaving?: %i[failed leaving lost] }.each do |question, states|
      assert_equal(states, WAYS.keys.select { |state| generation(state).public_send(question) })
    end
  end

  # A deploy or a rollback has a report until it has taken effect.
  def test_it_is_under_way_while_it_has_a_report_and_does_not_leave
    under_way = WAYS.keys.select { |state| generation(state).tap { |one| one.report = :report }.under_way? }
    assert_equal WAYS.keys - %i[failed leaving lost], under_way
    refute(WAYS.keys.any? { |state| generation(state).under_way? })
  end

  def test_the_steps_that_it_has_reached_stay_reached_when_it_leaves
    { [] => 0, %i[loaded] => 1, %i[loaded ready] => 2, %i[loaded ready hold] => 2, %i[loaded ready hold more] => 2,
      %i[loaded ready whole] => 3, SERVING => 3, [*SERVING, :keep] => 3 }.each do |way, count|
      [[], %i[leave], %i[lose], %i[end]].each do |last|
        assert_equal STEPS.first(count), reached(*way, *last), [way, last]
      end
    end
  end

  # A master that was told to end while it loads can say that it has loaded.
  def test_one_that_leaves_reaches_steps_and_one_that_is_revived_begins_again
    assert_equal %i[loaded ready], reached(:leave, :loaded, :ready)
    assert_empty reached(*SERVING, :keep, :revive)
  end

  def test_the_time_since_it_was_ready
    one = generation(:ready)
    pass_time(5)
    one.change(:whole)
    pass_time(1)
    assert_equal 6, one.seconds_ready
  end

  # A word would end a master that loads.
  def test_words_wait_until_the_application_is_loaded
    one = generation(:started)
    one.tell(:recall)
    assert_empty one.process.words
    one.load
    assert_equal [:loaded, [:recall]], [one.state, one.process.words]
  end

  def test_it_counts_the_workers_that_its_master_was_told_to_have
    one = loaded
    %i[more fewer].each { |word| one.tell(word) }
    assert_nil one.told
    one.told = 2
    %i[more fewer fewer fewer renew].each { |word| one.tell(word) }
    assert_equal [1, %i[more fewer more fewer fewer fewer renew]], [one.told, one.process.words]
  end

  def test_another_number_of_workers
    { 3 => %i[more], 1 => %i[fewer], 2 => [], nil => [] }.each do |number, words|
      one = loaded
      one.told = number && 2
      one.resize(number || 5)
      assert_equal [words, number], [one.process.words, one.told]
    end
  end

  # Meanwhile, the number of workers that the server must have can change: the kept one still starts its own.
  def test_a_kept_one_starts_its_workers_again
    one = loaded
    one.told = 1
    SERVING.drop(1).each { |event| one.change(event) }
    one.keep(3)
    one.revive
    assert_equal [:started, %i[park serve]], [one.state, one.process.words]
    assert_equal 3, one.workers(8)
    one.load
    assert_equal [3, %i[park serve more more]], [one.told, one.process.words]
  end

  def test_a_kept_one_has_as_many_workers_as_the_server
    one = generation(:serving)
    one.keep(3)
    assert_equal 3, one.told
  end

  def test_a_hold_has_no_time_limit
    one = generation(:ready)
    one.whole_by = now + 1
    one.hold
    assert_equal [:held, nil], [one.state, one.whole_by]
  end

  def test_it_is_told_once_to_leave_but_a_quit_counts
    one = loaded
    one.leave(:drain, 10)
    one.leave(:retire, 20)
    assert_equal [[:drain], 10], [one.process.words, one.limit]
    one.leave(:quit, 7)
    one.leave(:kill_children, 1)
    assert_equal [%i[drain quit kill], 1, now + 1], [one.process.words, one.limit, one.process.deadline]
    assert_empty one.process.signals
  end

  # TERM ends a master that loads.
  def test_one_that_loads_gets_a_signal
    one = generation(:started)
    one.leave(:retire, 10, :fail)
    assert_equal [:failed, [:retire], [:TERM]], [one.state, one.process.words, one.process.signals]
  end

  def test_one_that_is_lost_gets_time_and_no_signal
    one = loaded
    one.lose(10)
    assert_equal [:lost, now + 10, []], [one.state, one.process.deadline, one.process.signals]
  end

  private

  def after(*events)
    Bontebok::Generation.new(Bontebok::Generation::Setup.new(1), FakeProcess.new(101)).tap do |one|
      events.each { |event| one.change(event) }
    end
  end

  def reached(*events)
    one = after(*events)
    STEPS.select { |step| one.reached?(step) }
  end

  def generation(state)
    after(*WAYS.fetch(state)).tap { |one| assert_equal state, one.state }
  end

  def loaded = generation(:started).tap(&:load)
end
