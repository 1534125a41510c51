# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/children"
require_relative "../../support/workers/fake_worker"

# Walks each event in each state of a worker: each step, in each place (Child::STEPS and Child::PLACES). The tables say
# what must become of the worker. They are written independently of the tables of Child.
class ChildTest < Support::TestCase
  Child = Bontebok::Children::Child

  STEPS = %i[started loaded prepared told ready].freeze
  PLACES = %i[staying replaced leaving waiting].freeze
  LEAVE = %i[leaving leaving leaving waiting].freeze

  # How each event is caused.
  EVENTS = {
    loaded: ->(child) { child.reached(:loaded) },
    prepared: ->(child) { child.reached(:prepared) },
    ready: ->(child) { child.reached(:ready) },
    go: ->(child) { child.go(50) },
    serve: ->(child) { child.serve(50) },
    replace: lambda(&:replace),
    retire: ->(child) { child.leave(:retire, 60) },
    drain: ->(child) { child.leave(:drain, 60) },
    quit: ->(child) { child.quit(2) },
    hurry: ->(child) { child.hurry(1) },
    desert: ->(child) { child.desert(60) },
    waits: ->(child) { child.waits(70) },
    kill: ->(child) { child.kill("did not end") }
  }.freeze

  # { event => the place after it, for each place before it }
  MOVES = {
    loaded: PLACES, prepared: PLACES, ready: PLACES, go: PLACES, serve: PLACES, kill: PLACES,
    replace: %i[replaced replaced leaving waiting],
    retire: LEAVE, drain: LEAVE, quit: LEAVE, hurry: LEAVE, desert: LEAVE,
    waits: %i[staying replaced waiting waiting]
  }.freeze

  # { event => the seconds to the deadline after it, for each place before it }. Before the event, they are 100. nil: no
  # deadline.
  LIMITS = {
    loaded: [nil, nil, 100, 100], prepared: [nil, nil, 100, 100], ready: [nil, nil, 100, 100], kill: [nil] * 4,
    go: [50, 50, 100, 100], serve: [100] * 4, replace: [100] * 4,
    retire: [60, 60, 100, 100], drain: [60, 60, 100, 100], quit: [2] * 4, hurry: [1] * 4, desert: [60, 60, 100, 100],
    waits: [100, 100, 70, 70]
  }.freeze

  # { event => the words after it, for each place before it }; a worker that still loads gets TERM with the first word.
  NOTHING = [[]] * 4
  WORDS = {
    loaded: NOTHING, prepared: NOTHING, ready: NOTHING, kill: NOTHING, replace: NOTHING, desert: NOTHING,
    waits: NOTHING, serve: NOTHING, go: [[:go]] * 4, quit: [[:quit]] * 4,
    retire: [[:retire], [:retire], [], []], drain: [[:drain], [:drain], [], []],
    hurry: [%i[retire hurry], %i[retire hurry], [:hurry], [:hurry]]
  }.freeze

  # A prepared worker that does not leave is told to serve, once.
  TOLD = { limits: [50, 50, 100, 100], words: [[:serve], [:serve], [], []] }.freeze

  def test_each_event_in_each_state
    cases = EVENTS.keys.product(STEPS, PLACES).reject { |event, step, _| event == :go && step == :started }
    assert_equal(256, cases.count { |one| check(*one) })
  end

  def test_predicates_of_each_place
    predicates = PLACES.map do |place|
      child, = worker(:ready, place)
      [child.staying?, child.leaving?, child.waiting?]
    end
    assert_equal [[true, false, false], [false, false, false], [false, true, false], [false, true, true]], predicates
  end

  def test_a_worker_has_reached_all_former_steps
    STEPS.each_with_index do |step, index|
      child, = worker(step, :staying)
      assert_equal(STEPS.first(index + 1), STEPS.select { |one| child.reached?(one) })
    end
  end

  # So the child keeps its priority at its end.
  def test_a_child_with_few_seconds_is_told_to_hurry
    child, process = worker(:ready, :staying)
    child.hurry(1)
    assert_equal %i[retire hurry], process.said
  end

  # A longer time is shortened.
  def test_a_child_with_less_time_does_not_get_more_when_it_must_hurry
    child, process = worker(:ready, :leaving)
    process.expect(0.5)
    child.hurry(1)
    assert_equal 0.5, child.limit
  end

  # Otherwise nothing would kill a child that does not end.
  def test_a_child_that_leaves_keeps_its_deadline_when_it_reports_a_step
    child, = worker(:started, :staying)
    child.boot(60)
    child.reached(:loaded)
    assert_nil child.deadline
    child.leave(:retire, 60)
    child.reached(:ready)
    refute_nil child.deadline
  end

  def test_only_a_worker_that_does_not_leave_can_be_lost
    lost = PLACES.map do |place|
      child, process = worker(:ready, place)
      process.close
      child.hear
      Bontebok::Clock.stub(:now, Bontebok::Clock.now + 1) { child.lost? }
    end
    assert_equal [true, true, false, false], lost
  end

  def test_only_the_first_cause_counts_unless_the_worker_hangs
    child, = worker(:ready, :staying)
    assert_equal :signal, child.blame(:signal).blame(:restart).cause
    refute_predicate child, :hung?
    assert_equal :request_timeout, child.blame(:request_timeout).cause
    assert_predicate child, :hung?
    assert_equal :worker_timeout, child.blame(:worker_timeout).blame(:lost).cause
  end

  private

  # Returns a worker and its process, whose records are empty, and whose deadline is in 100 s.
  def worker(step, place)
    process = FakeWorker.new(1, 101)
    child = Child.new(1, process)
    reach(child, step)
    child.replace if place == :replaced
    child.leave(:retire, 1) if %i[leaving waiting].include?(place)
    child.waits(1) if place == :waiting
    process.expect(100)
    [process.said, process.signals].each(&:clear)
    [child, process]
  end

  def reach(child, step)
    child.reached(step == :told ? :prepared : step) unless step == :started
    child.serve(1) if step == :told
  end

  def check(event, step, place)
    now = 1000.0
    Bontebok::Clock.stub(:monotonic, -> { now + Bontebok::Clock.lost }) do
      child, process = worker(step, place)
      EVENTS.fetch(event).call(child)
      index = PLACES.index(place)
      table = { limits: LIMITS[event], words: WORDS[event] }
      table = TOLD if event == :serve && step == :prepared
      assert_state(child, process, "#{event}, #{step}, #{place}",
                   [MOVES[event][index], table[:limits][index], said(table[:words][index], step)])
      assert_equal signals(event, step, place), process.signals, "#{event}, #{step}, #{place}"
    end
  end

  # A worker that loads hears of :hurry only when it has loaded.
  def said(words, step) = step == :started ? words - [:hurry] : words

  def signals(event, step, place)
    return [:KILL] if event == :kill
    return [] unless step == :started

    event == :quit || (%i[retire drain hurry].include?(event) && !%i[leaving waiting].include?(place)) ? [:TERM] : []
  end

  # state: the place, the seconds to the deadline, and the words.
  def assert_state(child, process, text, state)
    place = %i[waiting leaving staying].find { |one| child.public_send(:"#{one}?") } || :replaced
    assert_equal state, [place, child.deadline&.then { |time| time - 1000 }, process.said], text
  end
end
