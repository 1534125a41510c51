# frozen_string_literal: true

require "bontebok/processes/children"

# Mistakes in the rules for workers. Each replaces one method. WorkersWalk must find each of them.
module WorkersMistakes
  Children = Bontebok::Children

  # { mistake => [class, method, the method with the mistake] }
  ALL = {
    "a worker that leaves loses its deadline with its next step" =>
      [Children::Child, :reached, lambda do |step|
        @step = step
        @ready_since = Bontebok::Clock.now if step == :ready
        @process.expect_nothing
        @process.loaded
      end],
    "a worker that was killed gets a deadline" =>
      [Bontebok::ForkedProcess, :expect, ->(seconds) { @deadline = Bontebok::Clock.now + (@limit = seconds) }],
    "a worker that leaves gets more time with each order to leave" =>
      [Children::Child, :leave, lambda do |how, seconds|
        move(:leave)
        @process.leave(how, seconds)
      end],
    "a worker that leaves gets more time when all of it hangs" =>
      [Children::Child, :hurry, lambda do |seconds|
        leave(:retire, seconds)
        tell(:hurry)
        @process.expect(seconds + 1)
      end],
    "a worker that serves gets the time to end of one that leaves" =>
      [Children::Child, :waits, ->(seconds) { @process.expect(seconds) }],
    "a worker is told to serve at each turn" =>
      [Children::Child, :serve, lambda do |seconds|
        return if !reached?(:prepared) || reached?(:ready) || leaving?

        tell(:serve)
        boot(seconds)
      end],
    "a worker that has closed its channel gets a signal" =>
      [Children::Child, :desert, ->(seconds) { move(:leave) && @process.leave(:retire, seconds) }],
    "a worker counts as lost at once" => [Bontebok::ForkedProcess, :lost?, -> { deaf? }],
    "workers that hang are all replaced, without a limit" => [Children::Roster, :startable, -> { missing }],
    "a worker that only waits for hijacked connections takes a place" =>
      [Children::Child, :waiting?, -> { false }],
    "no worker is left to serve while its replacement loads" => [Children::Roster, :dispensable?, ->(_child) { true }],
    "a loading worker serves until its replacement is ready" => [Children::Roster, :dispensable?, ->(_child) { false }],
    "several workers are replaced at the same time" =>
      [Children::Roster, :next_in_queue, -> { (@queue &= select(&:staying?)).shift }],
    "a worker that hangs delays the replacement of the others" =>
      [Children::Roster, :next_in_queue, lambda do
        @queue &= select(&:staying?)
        @queue.shift if all?(&:staying?)
      end],
    "a former worker leaves when its replacement has loaded" =>
      [Children::Rules, :note_step, lambda do |child, step|
        child.reached(step)
        child.go(@boot) if step == :loaded && @go
        @pauses.ready(child.number) if step == :ready
        @roster.of(child.number).reject(&:staying?).each { |former| retire(former) }
      end],
    "a former worker serves on" =>
      [Children::Rules, :note_step, lambda do |child, step|
        child.reached(step)
        child.go(@boot) if step == :loaded && @go
        @pauses.ready(child.number) if step == :ready
      end],
    "a worker that loads late is not told to go" =>
      [Children::Rules, :note_step, lambda do |child, step|
        child.reached(step)
        @pauses.ready(child.number) if step == :ready
        @roster.of(child.number).reject(&:staying?).each { |former| retire(former) } if step == :ready && child.staying?
      end],
    "a worker that does not move lives on" =>
      [Children::Rules, :stalled, ->(_pid, _reason) {}],
    "the last words of a worker are not read" =>
      [Bontebok::ForkedProcess, :hear, lambda do
        words = channel.hear
        @lost_at = Bontebok::Clock.now + 1 if words.delete(:closed)
        ended? ? [] : words
      end],
    "a rejected fork counts as a failure" =>
      [Children::Rules, :refused, ->(number, _) { @pauses.failed(number, fault: true) }],
    "a rejected fork is tried again at once" => [Children::Pauses, :refused, -> { @refused = true }],
    "a rejected fork is not settled" => [Children::Pauses, :refused?, -> { false }],
    "two workers in a row that end early do not count" =>
      [Children::Pauses, :ended, ->(number, _) { @failures.delete(number) }],
    "the first worker that ends early is a failure" => [Children::Pauses, :ended, ->(number, _) { failed(number) }],
    "each pause is as long as the first one" =>
      [Children::Pauses, :failed, lambda do |number, fault: false|
        @faults[number] += 1 if fault
        @until[number] = Bontebok::Clock.now + @pause
        @failures[number] += 1
      end],
    "a user who ends a worker makes the deploy hopeless" => [Children::Child, :ended_by_user?, -> { false }],
    "a renewal waits for the end of a pause" => [Children::Pauses, :cut_short, -> {}],
    "failures from before a stop count afterwards" => [Children::Rules, :resume, -> { @stopping = @go = false }],
    "workers go before the sockets listen again" =>
      [Children::Rules, :resume, -> { (@stopping = false) || @pauses.clear }],
    "failures of a number that has gone count when it comes back" => [Children::Pauses, :forget, ->(_number) {}],
    "the replacement of a worker that is not needed stays" =>
      [Children::Rules, :fewer, lambda do
        number = @roster.shrink or return
        @pauses.forget(number)
        @roster.of(number).first&.then { |child| retire(child) }
      end],
    "a worker that does not end in time lives on" => [Children::Child, :overdue?, -> { false }],
    "a worker that has closed its channel is replaced when it has ended" => [Children::Child, :lost?, -> { false }],
    "workers are started during a stop" =>
      [Children::Rules, :stop, ->(how) { @roster.each { |child| child.leave(how, @grace) } }],
    "a worker that leaves is not hurried by a quit" =>
      [Children::Child, :quit, ->(seconds) { leave(:quit, seconds) }],
    "a worker serves before others are prepared" =>
      [Children::Rules, :let_serve, -> { @roster.each { |child| child.serve(@boot) } }],
    "workers wait for others for ever" => [Children::Rules, :let_serve, -> {}]
  }.freeze

  # Runs the block with the mistake.
  def self.make(mistake)
    owner, name, wrong = ALL.fetch(mistake)
    right = owner.instance_method(name)
    private = owner.private_method_defined?(name)
    put(owner, name, wrong)
    yield
  ensure
    put(owner, name, right)
    owner.send(:private, name) if private
  end

  # Ruby warns if a method is defined twice.
  def self.put(owner, name, body)
    owner.remove_method(name)
    owner.define_method(name, body)
  end
end
