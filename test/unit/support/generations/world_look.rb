# frozen_string_literal: true

# What a GenerationWorld looks like: all that decides how it goes on. Times count from now.
class WorldLook
  ROLLOUT = %i[@step @former_workers @verdict @crashed @on_trial @held].freeze

  def initialize(generations, rules, history, now)
    @generations = generations
    @rules = rules
    @history = history
    @now = now
  end

  def values
    places = [@rules.newest, @rules.former, @rules.kept, *@rules.leaving]
    places.map { |generation| generation && look_of(generation) } << @history.look << pauses <<
      inside(@rules, :@asked) << %i[@kept_until @parked_by].map { |name| from_now(inside(@rules, name)) }
  end

  private

  def inside(object, name) = object.instance_variable_get(name)

  # A time that is over is as good as any other.
  def from_now(time) = time && [time - @now, 0].max

  def pauses
    pauses = inside(@generations, :@pauses)
    [pauses.failing?(1), from_now(pauses.over(1))]
  end

  def look_of(generation)
    number = generation.setup.number
    [number, @history.results[number], @history.replacement?(number), generation.state, generation.reached?(:ready),
     generation.told, generation.asks == true, generation.shrunk, generation.on_trial, generation.ordered,
     generation.report.nil?, from_now(generation.whole_by), *rollout(generation.rollout), generation.process.look(@now)]
  end

  def rollout(rollout)
    return unless rollout

    canary = inside(rollout, :@canary)
    [from_now(inside(rollout, :@proved_at)), canary&.deadline, canary&.verdict,
     *ROLLOUT.map { |name| inside(rollout, name) }]
  end
end
